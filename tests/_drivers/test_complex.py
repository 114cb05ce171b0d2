"""Complex arguments, results and values on the way: the convention, what each driver gives, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hoad

Z = 1.3 - 0.4j
ZS = np.array([0.7 + 0.2j, -1.1 + 0.6j, 0.3 - 0.9j])
X = np.array([0.5, 1.25, -2.0])
RNG = np.random.default_rng(5)
MATRIX = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))


def close(got: Any, want: Any, rtol: float = 1e-13) -> None:
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.max(abs(np.asarray(want)), initial=1e-300))


# ---- the convention -------------------------------------------------------------------------------------------------

# (a real function of z, ∂u/∂x - i ∂u/∂y)
GRADIENTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "real part": (np.real, lambda z: 1.0),
    "imaginary part": (np.imag, lambda z: -1j),
    "square of the size": (lambda z: abs(z) ** 2, lambda z: 2 * z.conjugate()),
    "size": (abs, lambda z: z.conjugate() / abs(z)),
    "angle": (np.angle, lambda z: -1j / z),
    "degrees": (lambda z: np.angle(z, deg=True), lambda z: -1j / z * 180 / np.pi),
    "real part of a power": (lambda z: (z**3).real, lambda z: 3 * z**2),
    "imaginary part of exp": (lambda z: np.exp(z).imag, lambda z: -1j * np.exp(z)),
    "conjugate": (lambda z: (1j * z.conjugate()).real, lambda z: -1j),
    "product with the conjugate": (
        lambda z: (z * np.conj(z) * z).imag,
        lambda z: -1j * 2 * abs(z) ** 2 + 1j * z.conjugate() ** 2,
    ),
    "parts": (lambda z: z.real * z.imag, lambda z: z.imag - 1j * z.real),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_in_closed_form(name: str) -> None:
    """∂u/∂x - i ∂u/∂y, as of JAX and autograd: not its conjugate, as of torch."""
    f, gradient = GRADIENTS[name]
    want = gradient(Z)
    close(hoad.grad(f)(Z), want)
    assert type(hoad.grad(f)(Z)) is complex
    value, found = hoad.value_and_grad(f)(Z)
    close(found, want)
    close(value, f(Z))
    for mode in ("forward", "reverse", "auto"):
        close(hoad.jacobian(f, mode=mode)(Z), want)
    for direction in (1.0, 1j, 0.6 - 0.8j):
        close(hoad.jvp(f, (Z,), (direction,))[1], (want * direction).real, 1e-12)
        close(hoad.linearize(f, Z)[1](direction), (want * direction).real, 1e-12)
    close(hoad.vjp(f, Z)[1](3.0)[0], 3 * want)
    by_parts = hoad.grad(lambda x, y: f(x + 1j * y), argnums=(0, 1))(Z.real, Z.imag)
    close(by_parts[0] - 1j * by_parts[1], want)
    of_torch = np.conj(want)
    close(by_parts[0] + 1j * by_parts[1], of_torch)


def test_steepest_ascent_is_along_the_conjugate() -> None:
    """A gradient step that minimises |z - c|² subtracts the conjugate of what `grad` gives, which torch returns."""
    c = 2.0 + 1.0j
    gradient = hoad.grad(lambda z: abs(z - c) ** 2)(Z)
    of_torch = np.conj(gradient)
    close(Z - 0.5 * of_torch, c)


def test_a_real_argument_takes_the_real_part() -> None:
    f = lambda x: np.sum((np.exp(1j * x) * MATRIX[0]).real)  # noqa: E731
    gradient = hoad.grad(f)(X)
    assert gradient.dtype == np.float64
    close(gradient, (1j * np.exp(1j * X) * MATRIX[0]).real)
    assert type(hoad.grad(lambda x: abs(np.exp(1j * x) + 1))(0.3)) is float


# ---- kinds of functions ---------------------------------------------------------------------------------------------


def test_jacobian_of_a_complex_function_of_real_arguments() -> None:
    f = lambda x: np.exp(1j * x) * x[::-1]  # noqa: E731
    want = np.diag(1j * np.exp(1j * X) * X[::-1]) + np.diag(np.exp(1j * X))[:, ::-1]
    for mode in ("forward", "reverse", "auto"):
        found = hoad.jacobian(f, mode=mode)(X)
        assert found.dtype == np.complex128
        close(found, want)
    wave = lambda x: np.exp(1j * x)  # noqa: E731
    assert type(hoad.jacobian(wave)(0.3)) is complex
    close(hoad.derivative(wave, 3)(X), -1j * np.exp(1j * X))
    close(hoad.jvp(wave, (0.3,), (2.0,))[1], 2j * np.exp(0.3j))
    close(hoad.vjp(wave, 0.3)[1](-1j)[0], np.cos(0.3))


def test_jacobian_of_a_real_function_of_complex_arguments() -> None:
    f = lambda z: np.abs(z) ** 2 * np.real(z[::-1])  # noqa: E731
    want = np.diag(2 * ZS.conj() * ZS[::-1].real) + np.diag(abs(ZS) ** 2)[:, ::-1]
    for mode in ("forward", "reverse", "auto"):
        close(hoad.jacobian(f, mode=mode)(ZS), want)


def test_holomorphic_functions() -> None:
    f = lambda z: np.sum(z**3 * z[::-1])  # noqa: E731
    want = 3 * ZS**2 * ZS[::-1] + ZS[::-1] ** 3
    close(hoad.grad(f, holomorphic=True)(ZS), want)
    close(hoad.value_and_grad(f, holomorphic=True)(ZS)[1], want)
    close(hoad.jacobian(f, holomorphic=True)(ZS), want)
    second = np.diag(6 * ZS * ZS[::-1]) + np.diag(3 * ZS**2 + 3 * ZS[::-1] ** 2)[:, ::-1]
    second[1, 1] = 12 * ZS[1] ** 2
    close(hoad.hessian(f, holomorphic=True)(ZS), second)
    for mode in ("forward", "reverse"):
        close(hoad.jacobian(lambda z: MATRIX @ z**2, holomorphic=True, mode=mode)(ZS), MATRIX * 2 * ZS)
    for n in range(6):
        close(hoad.derivative(lambda z: np.exp(2 * z), n, holomorphic=True)(ZS), 2**n * np.exp(2 * ZS))


def test_several_arguments() -> None:
    f = lambda x, z: np.real(x * z**2)  # noqa: E731
    gx, gz = hoad.grad(f, argnums=(0, 1))(2.0, Z)
    assert type(gx) is float
    close(gx, (Z**2).real)
    close(gz, 4 * Z)
    blocks = hoad.jacobian(lambda x, z: np.abs(x + z), argnums=(0, 1))(X, ZS)
    unit = (X + ZS) / abs(X + ZS)
    close(blocks[0], np.diag(unit.real))
    close(blocks[1], np.diag(unit.conj()))


def test_single_precision_stays_single() -> None:
    z = ZS.astype(np.complex64)
    value, gradient = hoad.value_and_grad(lambda z: np.sum(np.abs(np.fft.fft(z * 1j)) ** 2))(z)
    assert np.asarray(value).dtype == np.float32 and gradient.dtype == np.complex64
    close(gradient, 6 * z.conj(), 1e-5)
    x = X.astype(np.float32)
    assert hoad.grad(lambda x: np.sum(np.abs(x * 1j + 1)))(x).dtype == np.float32
    assert hoad.jacobian(lambda x: x * 1j)(x).dtype == np.complex64
    assert hoad.jvp(lambda x: np.exp(1j * x), (x,), (x,))[1].dtype == np.complex64
    assert hoad.hvp(lambda z: np.sum(np.abs(z) ** 3))(z, z).dtype == np.complex64
    close(hoad.grad(lambda z: np.sum((z.astype(np.complex128) ** 2).real))(z), 2 * z, 1e-6)


# ---- second and higher order ----------------------------------------------------------------------------------------


def test_second_order_of_a_real_function_of_complex_arguments() -> None:
    """u = |z|⁴: what 4 |z|² z̄ changes by along v is 4 (2 z̄ Re(z̄ v) + |z|² v̄)."""
    f = lambda z: np.sum(np.abs(z) ** 4)  # noqa: E731
    v = 1j * ZS[::-1]
    want = 4 * (2 * ZS.conj() * (ZS.conj() * v).real + abs(ZS) ** 2 * v.conj())
    close(hoad.hvp(f)(ZS, v), want)
    close(hoad.vhp(f)(ZS, v), want)
    close(hoad.jvp(hoad.grad(f), (ZS,), (v,))[1], want)
    # the pullback of the gradient takes v to the conjugate convention: Re(v̄ dg) = Re(ḡ dz)
    pulled = hoad.vjp(hoad.grad(f), ZS)[1](v.conj())[0]
    step = 1e-6 * RNG.normal(size=3)
    change = np.sum((v.conj() * (hoad.grad(f)(ZS + step) - hoad.grad(f)(ZS - step))).real)
    close(np.sum((pulled * 2 * step).real), change, 1e-7)


def test_hessian_by_parts() -> None:
    (xx, xy), (yx, yy) = hoad.hessian(lambda x, y: abs(x + 1j * y) ** 4, argnums=(0, 1))(Z.real, Z.imag)
    x, y = Z.real, Z.imag
    close([xx, xy, yx, yy], [12 * x * x + 4 * y * y, 8 * x * y, 8 * x * y, 4 * x * x + 12 * y * y])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8])
def test_energy_of_a_spectrum(n: int) -> None:
    """Parseval: Σ |x̂|² = n Σ x², so that the Hessian is 2 n I, in every mode, for fft and the whole of rfft."""
    x = RNG.normal(size=n)
    weights = np.full(n // 2 + 1, 2.0)
    weights[[0, -1] if n % 2 == 0 else 0] = 1.0
    for f in (
        lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2),
        lambda x: np.sum(weights * np.abs(np.fft.rfft(x)) ** 2),
        lambda x: n * np.sum(np.abs(np.fft.ifft(x, norm="ortho")) ** 2),
    ):
        close(hoad.grad(f)(x), 2 * n * x, 1e-12)
        close(hoad.hessian(f)(x), 2 * n * np.eye(n), 1e-12)
        for mode in ("forward", "reverse"):
            close(hoad.jacobian(hoad.grad(f), mode=mode)(x), 2 * n * np.eye(n), 1e-12)
            close(hoad.jacobian(hoad.jacobian(f, mode=mode), mode=mode)(x), 2 * n * np.eye(n), 1e-12)
    z = x + 1j * x[::-1]
    close(hoad.grad(lambda z: np.sum(np.abs(np.fft.fft(z)) ** 2))(z), 2 * n * z.conj(), 1e-12)
    close(hoad.hvp(lambda z: np.sum(np.abs(np.fft.fft(z)) ** 2))(z, 1j * z), 2 * n * (1j * z).conj(), 1e-12)


def test_higher_orders_by_every_mode() -> None:
    """u(t) = |exp(it) + t|² = 1 + 2 t cos t + t²."""
    f = lambda t: np.abs(np.exp(1j * t) + t) ** 2  # noqa: E731
    t = 0.7
    exact = [
        2 * np.cos(t) - 2 * t * np.sin(t) + 2 * t,
        -4 * np.sin(t) - 2 * t * np.cos(t) + 2,
        -6 * np.cos(t) + 2 * t * np.sin(t),
        8 * np.sin(t) + 2 * t * np.cos(t),
    ]
    forward, backward = f, f
    for n, want in enumerate(exact, 1):
        forward = (lambda g: lambda t: hoad.jvp(g, (t,), (1.0,))[1])(forward)
        backward = hoad.grad(backward)
        close(forward(t), want, 1e-11)
        close(backward(t), want, 1e-11)
        close(hoad.derivative(f, n)(t), want, 1e-11)


def test_nested_derivatives() -> None:
    f = lambda x: abs(hoad.grad(lambda z: z**3 * x, holomorphic=True)(1.0 + 1j * x))  # noqa: E731
    want = lambda x: 3 * abs(1 + x * x) * abs(x)  # noqa: E731
    close(f(2.0), want(2.0))
    close(hoad.grad(f)(2.0), 3 + 9 * 4.0)
    inner = lambda z: hoad.jacobian(lambda w: np.abs(w * z) ** 2)(ZS)  # noqa: E731
    close(hoad.jvp(inner, (Z,), (1j,))[1], np.diag(2 * ZS.conj() * 2 * (Z.conjugate() * 1j).real))
    wave = lambda s: hoad.jacobian(lambda x: np.exp(1j * s * x), mode="reverse")(X)  # noqa: E731
    close(hoad.jacobian(wave)(0.5), np.diag(1j * np.exp(0.5j * X) * (1 + 0.5j * X)))


# ---- programs -------------------------------------------------------------------------------------------------------


def test_programs() -> None:
    program = hoad.record(lambda z: np.sum(np.abs(np.fft.fft(z)) ** 2), ZS)
    gradient = hoad.gradient(program)
    close(gradient.evaluate(2j * ZS), 6 * (2j * ZS).conj())
    twice = hoad.gradient(gradient, seed="symbolic")
    # the adjoint of 6 z̄ is 6 times the conjugate of the seed
    close(twice.evaluate(ZS, 1j * ZS), 6 * (1j * ZS).conj())
    plain = hoad.gradient(hoad.record(lambda z: np.abs(z) ** 3, Z), simplify=False)
    close(plain.evaluate(Z), 3 * abs(Z) * Z.conjugate())


def test_a_program_with_a_complex_result_takes_a_seed() -> None:
    program = hoad.record(lambda z: z**3, Z)
    close(hoad.gradient(program, seed=1.0).evaluate(Z), 3 * Z**2)
    close(hoad.gradient(program, seed=-1j).evaluate(Z), -3j * Z**2)
    close(hoad.gradient(program, seed="symbolic").evaluate(Z, 2 + 1j), (2 + 1j) * 3 * Z**2)
    with pytest.raises(hoad.DTypeError, match=r"complex result \(complex128\) needs a seed: 1\.0 .* -1j .*'symbolic'"):
        hoad.gradient(program)


def test_expressions() -> None:
    x, y = hoad.symbols("x y")
    e = np.abs(np.exp(1j * x) + y) ** 2
    at = {x: 0.3, y: 2.0}
    close(e.evaluate(at), abs(np.exp(0.3j) + 2) ** 2)
    close(e.derivative(x).evaluate(at), -4 * np.sin(0.3))
    close((x * 1j).derivative(x).evaluate(at), 1j)


# ---- special points -------------------------------------------------------------------------------------------------


def test_size_at_zero_has_the_subgradient_zero() -> None:
    for f in (abs, lambda z: np.linalg.norm(np.stack([z, 2 * z])), lambda z: np.abs(z * (1 + 1j))):
        assert hoad.grad(f)(0j) == 0
        assert hoad.hvp(f)(0j, 1j) == 0
        assert hoad.jvp(f, (0j,), (1 + 1j,))[1] == 0
    assert hoad.grad(lambda z: abs(z) ** 2)(0j) == 0
    close(hoad.hvp(lambda z: (z * z.conj()).real)(0j, 1 + 2j), 2 * (1 - 2j))


def test_powers_at_zero() -> None:
    for n in range(5):
        for order in range(6):
            want = [1, 1, 2, 6, 24][n] if order == n else 0
            assert hoad.derivative(lambda z, n=n: z**n, order, holomorphic=True)(0j) == want


def test_what_a_mask_leaves_out_is_zero_whatever_it_is() -> None:
    f = lambda z: np.where(z == 0, 0.0, np.abs(np.sin(z) / z))  # noqa: E731
    with np.errstate(all="ignore"):
        assert hoad.grad(f)(0j) == 0
        g = lambda x: np.sum(np.where(x > 0, np.sqrt(x + 0j), 0.0).real)  # noqa: E731
        np.testing.assert_array_equal(hoad.grad(g)(np.array([0.0, 4.0])), [0.0, 0.25])


CUTS: dict[str, tuple[Any, list[complex], Callable[[Any], Any]]] = {
    "sqrt": (np.sqrt, [-2.0], lambda z: 0.5 / np.sqrt(z)),
    "log": (np.log, [-2.0], lambda z: 1 / z),
    "arcsin": (np.arcsin, [2.0, -3.0], lambda z: 1 / np.cos(np.arcsin(z))),
    "arccos": (np.arccos, [2.0, -3.0], lambda z: -1 / np.sin(np.arccos(z))),
    "arccosh": (np.arccosh, [0.5, -3.0], lambda z: 1 / np.sinh(np.arccosh(z))),
    "arctanh": (np.arctanh, [2.0, -3.0], lambda z: np.cosh(np.arctanh(z)) ** 2),
    "arcsinh": (np.arcsinh, [2j, -3j], lambda z: 1 / np.cosh(np.arcsinh(z))),
    "arctan": (np.arctan, [2j, -3j], lambda z: np.cos(np.arctan(z)) ** 2),
}


@pytest.mark.parametrize("name", CUTS)
def test_on_a_branch_cut_the_sign_of_zero_says_the_side(name: str) -> None:
    """By the derivative of the inverse function at NumPy's own value, and by the limit from that side."""
    f, places, slope = CUTS[name]
    for place in places:
        for zero in (0.0, -0.0):
            z = complex(place.real, zero) if not complex(place).imag else complex(zero, place.imag)
            beside = z + (1e-9j if not complex(place).imag else 1e-9) * np.copysign(1.0, zero)
            for found in (hoad.grad(f, holomorphic=True)(z), hoad.jvp(f, (z,), (1.0,))[1]):
                close(found, slope(z), 1e-14)
                close(found, hoad.grad(f, holomorphic=True)(beside), 1e-8)
            second = hoad.derivative(f, 2, holomorphic=True)
            close(second(z), second(beside), 1e-7)


def test_infinite_and_undefined_values_are_numpys() -> None:
    with np.errstate(all="ignore"):
        for z in (complex(np.inf, 1.0), complex(np.nan, 1.0), complex(0.0, np.inf)):
            value, slope = hoad.jvp(np.exp, (z,), (1.0,))
            np.testing.assert_equal(value, complex(np.exp(z)))
            np.testing.assert_equal(slope, complex(np.exp(z)))
        assert hoad.grad(np.abs)(complex(np.inf, 0.0)) == 1.0
        assert np.isnan(hoad.grad(np.angle)(0j))


# ---- what is refused ------------------------------------------------------------------------------------------------

REAL_WANTED = r"needs a real function, but f\(x\) is complex128\. .*np\.real, np\.imag, np\.abs.*"


@pytest.mark.parametrize("driver", ["grad", "value_and_grad", "hessian"])
@pytest.mark.parametrize("at", [0.5, Z])
def test_gradient_of_a_complex_result_names_the_choices(driver: str, at: Any) -> None:
    with pytest.raises(hoad.DTypeError, match=rf"{driver} {REAL_WANTED}holomorphic=True.*jacobian .*both parts.*vjp"):
        getattr(hoad, driver)(lambda z: z**2 * 1j)(at)


@pytest.mark.parametrize("driver", ["hvp", "vhp"])
def test_products_with_the_hessian_of_a_complex_result(driver: str) -> None:
    with pytest.raises(hoad.DTypeError, match=rf"{driver} {REAL_WANTED}"):
        getattr(hoad, driver)(lambda z: z**2)(Z, Z)


def test_derivatives_that_are_no_complex_matrix() -> None:
    with pytest.raises(
        hoad.DTypeError,
        match=r"jacobian of a complex function .* unless f is holomorphic, .* Either pass holomorphic=True",
    ):
        hoad.jacobian(lambda z: z.conj())(ZS)
    with pytest.raises(hoad.DTypeError, match=r"hessian of a real function of complex .* Use hvp.*argnums=\(0, 1\)"):
        hoad.hessian(lambda z: np.sum(np.abs(z)))(ZS)
    with pytest.raises(
        hoad.DTypeError,
        match=r"derivative with respect to a complex argument .* only if f is holomorphic\. Either pass",
    ):
        hoad.derivative(np.exp)(Z)


@pytest.mark.parametrize("driver", ["grad", "value_and_grad", "jacobian", "hessian", "derivative"])
def test_holomorphic_is_checked(driver: str) -> None:
    def asked(f: Callable[[Any], Any], at: Any) -> Any:
        return getattr(hoad, driver)(f, holomorphic=True)(at)

    with pytest.raises(hoad.DTypeError, match=rf"{driver} with holomorphic=True needs complex arguments"):
        asked(lambda x: x * 1j, 0.5)
    with pytest.raises(hoad.DTypeError, match=rf"{driver} with holomorphic=True needs a complex result"):
        asked(lambda z: z.real * 2, Z)
    for f in (np.conj, lambda z: z * z.conj(), lambda z: np.exp(1j * z.real), np.sign):
        with pytest.raises(hoad.DTypeError, match=r"not holomorphic here.*Cauchy and Riemann"):
            asked(f, Z)
    found = asked(lambda z: z.real + 1j * z.imag + (z.conj() - z.conj()), Z)
    assert (found[1] if driver == "value_and_grad" else found) == (0 if driver == "hessian" else 1)


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "a tangent": (lambda z: hoad.jvp(np.sum, (X,), (X * 1j,)), hoad.DTypeError, "dtype float64.*complex128"),
    "a cotangent": (lambda z: hoad.vjp(np.sum, X)[1](1j), hoad.DTypeError, "float64.*complex128"),
    "a cast": (lambda z: hoad.jvp(lambda z: z.astype(float), (z,), (z,)), hoad.NoRuleError, "np.real"),
    "phases of eigh": (
        lambda z: hoad.grad(lambda a: np.linalg.eigh(a + a.conj().T)[1][1, 0].real)(MATRIX),
        hoad.NoRuleError,
        r"phases of the vectors of eigh .*np\.abs\(v\)",
    ),
    "phases of svd": (
        lambda z: hoad.grad(lambda a: np.linalg.svd(a)[0][1, 0].real)(MATRIX),
        hoad.NoRuleError,
        r"phases of the vectors of svd .*np\.abs\(u\) or u @ vh",
    ),
    "quantiles": (lambda z: hoad.grad(lambda z: np.median(z).real)(z), hoad.NoRuleError, "complex numbers"),
    "rfft": (lambda z: hoad.grad(lambda z: np.sum(np.abs(np.fft.rfft(z))))(z), TypeError, "np.fft.fft"),
    "hypot": (
        lambda z: hoad.grad(lambda z: np.sum(np.hypot(z, z)))(z),
        hoad.DTypeError,
        r"np\.hypot takes no complex numbers",
    ),
    "floor": (
        lambda z: hoad.grad(lambda z: np.sum(np.floor(z)).real)(z),
        hoad.DTypeError,
        r"np\.floor takes no complex numbers",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        call(ZS)


# ---- NumPy's functions ----------------------------------------------------------------------------------------------

ALIKE: dict[str, Callable[[Any], Any]] = {
    "iscomplex": np.iscomplex,
    "isreal": np.isreal,
    "iscomplexobj": np.iscomplexobj,
    "isrealobj": np.isrealobj,
    "equal": lambda z: z == z[::-1].conj(),
    "less": lambda z: np.less(z, z[::-1]),
    "argmax": np.argmax,
    "isfinite": np.isfinite,
    "astype(bool)": lambda z: z.astype(bool),
    "any": lambda z: np.any(z),
}


@pytest.mark.parametrize("name", ALIKE)
def test_questions_are_answered_as_numpy_answers(name: str) -> None:
    seen = []
    hoad.jvp(lambda z: seen.append(hoad.value(ALIKE[name](z))) or z, (ZS,), (ZS,))
    np.testing.assert_array_equal(seen[0], ALIKE[name](ZS))


def test_values_and_repr() -> None:
    seen: list[Any] = []
    hoad.jvp(lambda z: seen.append((hoad.value(z[0]), repr(z[0]), z.real.dtype, z.imag.dtype)) or z, (ZS,), (ZS,))
    assert seen[0] == (0.7 + 0.2j, "Traced(array(0.7+0.2j))", np.float64, np.float64)


FOURIER = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", FOURIER)
def test_transforms_are_numpys_with_their_options(name: str, norm: Any) -> None:
    """Value and, as the transform is linear, the tangent bit for bit; the pullback by Re⟨g, F v⟩ = Re⟨Fᵀ g, v⟩."""
    real = name in ("rfft", "ihfft")
    a = RNG.normal(size=(3, 4)) + (0 if real else 1j * RNG.normal(size=(3, 4)))
    v = RNG.normal(size=(3, 4)) + (0 if real else 1j * RNG.normal(size=(3, 4)))
    for n in (None, 1, 2, 3, 4, 5, 7):
        for axis in (0, 1, -1):
            transform = lambda x: getattr(np.fft, name)(x, n, axis, norm)  # noqa: E731
            value, tangent = hoad.jvp(transform, (a,), (v,))
            np.testing.assert_allclose(value, transform(a), rtol=1e-14, atol=1e-14)
            np.testing.assert_allclose(tangent, transform(v), rtol=1e-14, atol=1e-14)
            assert value.dtype == transform(a).dtype
            g = RNG.normal(size=value.shape) + (1j * RNG.normal(size=value.shape) if value.dtype.kind == "c" else 0)
            (pulled,) = hoad.vjp(transform, a)[1](g)
            assert pulled.dtype == a.dtype
            close(np.sum((pulled * v).real), np.sum((g * transform(v)).real), 1e-12)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_transforms_over_several_axes(name: str, norm: Any) -> None:
    a = RNG.normal(size=(3, 4, 5)) + (0 if name == "rfft" else 1j * RNG.normal(size=(3, 4, 5)))
    v = RNG.normal(size=(3, 4, 5)) + (0 if name == "rfft" else 1j * RNG.normal(size=(3, 4, 5)))
    options: list[dict[str, Any]] = [
        {},
        {"axes": (1,)},
        {"axes": (2, 0)},
        {"s": (2, 6), "axes": (0, 1)},
        {"s": (-1, 3), "axes": (1, 2)},
        {"s": (4, 4, 4), "axes": (0, 1, 2)},
    ]
    if name in ("fft", "ifft"):
        options.append({"axes": (1, 1)})
    for given_ in options:
        for form in ("n", "2") if len(given_.get("axes", "ab")) == 2 else ("n",):
            transform = lambda x: getattr(np.fft, name + form)(x, **given_, norm=norm)  # noqa: E731
            value, tangent = hoad.jvp(transform, (a,), (v,))
            np.testing.assert_allclose(value, transform(a), rtol=1e-13, atol=1e-13)
            np.testing.assert_allclose(tangent, transform(v), rtol=1e-13, atol=1e-13)
            g = RNG.normal(size=value.shape) + (1j * RNG.normal(size=value.shape) if value.dtype.kind == "c" else 0)
            (pulled,) = hoad.vjp(transform, a)[1](g)
            close(np.sum((pulled * v).real), np.sum((g * transform(v)).real), 1e-12)


def test_shifts_and_frequencies() -> None:
    for shift in (np.fft.fftshift, np.fft.ifftshift):
        for axes in (None, 0, (0, 1)):
            a = MATRIX[:, :2]
            value, tangent = hoad.jvp(lambda x: shift(x, axes), (a,), (1j * a,))
            np.testing.assert_array_equal(value, shift(a, axes))
            np.testing.assert_array_equal(tangent, shift(1j * a, axes))
    spacing = hoad.jvp(lambda d: np.fft.fftfreq(4, d), (0.5,), (1.0,))[1]
    close(spacing, -np.fft.fftfreq(4, 0.5) / 0.5)


def test_mistakes_in_transforms_are_numpys() -> None:
    for call in (
        lambda x: np.fft.fft(x, 0),
        lambda x: np.fft.fft(x, norm="wrong"),
        lambda x: np.fft.fftn(x, (2, 2), (0,)),
        lambda x: np.fft.irfft(x[:1]),
    ):
        with pytest.raises(ValueError, match=r"Invalid|different lengths"):
            hoad.jvp(call, (X,), (X,))
        with pytest.raises(ValueError, match=r"Invalid|different lengths"):
            call(X)


def test_spectral_differentiation_converges_faster_than_any_power() -> None:
    """The derivative of a smooth periodic function by its spectrum, and the gradient of the error by the amplitude."""

    def slope(u: Any) -> Any:
        n = len(u)
        frequencies = np.fft.fftfreq(n, 1 / n) * (np.arange(n) != n // 2)
        return np.fft.ifft(1j * frequencies * np.fft.fft(u)).real

    errors = []
    for n in (8, 16, 32):
        x = 2 * np.pi * np.arange(n) / n
        f = lambda a, x=x: slope(np.exp(a * np.sin(x)))  # noqa: E731
        found = hoad.jacobian(f)(1.0)
        errors.append(abs(found - np.cos(x) * (1 + np.sin(x)) * np.exp(np.sin(x))).max())
    assert errors[1] < errors[0] ** 1.5 and errors[2] < 1e-13


# ---- random programs ------------------------------------------------------------------------------------------------

STEPS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a * b.conj(),
    lambda a, b: a - 1j * b.real,
    lambda a, b: np.exp(0.1j * a) * b,
    lambda a, b: a / (3.0 + np.abs(b) ** 2),
    lambda a, b: np.fft.fft(a, norm="ortho") + b,
    lambda a, b: np.fft.irfft(b, 3) * a,
    lambda a, b: np.where(a.real > b.real, a, 0.5 * b),
    lambda a, b: np.sin(0.2 * a) + b[::-1],
    lambda a, b: np.abs(a + 2) * np.exp(1j * np.angle(b + 3)),
    lambda a, b: np.stack([a[0], b[1], a[2] * b[0]]),
    lambda a, b: np.cumsum(a) * b.imag,
    lambda a, b: np.linalg.solve(np.outer(a, b) + 9 * np.eye(3), b),
]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(STEPS) - 1), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6),
    st.integers(0, 2**32 - 1),
)
def test_random_programs(steps: list[tuple[int, int, int]], seed: int) -> None:
    """Real and complex operations mixed: every mode agrees with differences, and at second order with each other."""

    def f(x: Any, z: Any) -> Any:
        values = [x + 0j, z]
        for which, i, j in steps:
            made = STEPS[which](values[i % len(values)], values[j % len(values)])
            values.append(made / (1.0 + np.sum(np.abs(made) ** 2)) if which in (1, 11) else made)
        return np.sum(np.abs(values[-1]) ** 2) + np.sum(values[-1].imag)

    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3) + 1j * rng.uniform(-1, 1, 3)
    dx, dz = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3) + 1j * rng.uniform(-1, 1, 3)
    gx, gz = hoad.grad(f, (0, 1))(x, z)
    tangent = hoad.jvp(f, (x, z), (dx, dz))[1]
    size = np.sum(abs(gx * dx)) + np.sum(abs(gz * dz)) + 1e-3
    assert abs(tangent - np.sum(gx * dx) - np.sum((gz * dz).real)) <= 1e-11 * size
    hx, hz = hoad.hvp(f, (0, 1))(x, z, (dx, dz))
    vx, vz = hoad.vhp(f, (0, 1))(x, z, (dx, dz))
    for p, q in ((hx, vx), (hz, vz)):
        np.testing.assert_allclose(p, q, rtol=1e-8, atol=1e-9 * (1 + abs(p).max()))
    h = 1e-5
    difference = (f(x + h * dx, z + h * dz) - f(x - h * dx, z - h * dz)) / (2 * h)
    error = abs(hoad.jvp(lambda t: f(x + t * dx, z + t * dz), (0.0,), (1.0,))[1] - difference)
    assert error <= 1e-6 * size + 1e-8 * abs(f(x, z))
