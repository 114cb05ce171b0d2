"""scipy.signal: filters, convolutions, spectra and systems by signals and coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from covered.scipy_calls import Call, of

X = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 0.25, -1.0, 0.6, 1.1, -0.3, 0.9])
LONG = np.sin(np.arange(24.0) ** 1.2) + 0.1 * np.arange(24.0)
H = np.array([0.5, -0.25, 1.5])
B, A = np.array([0.5, 0.25, 0.1]), np.array([1.25, -0.5, 0.2])
SOS = np.array([[0.5, 0.25, 0.1, 1.0, -0.5, 0.2], [1.0, 0.4, 0.2, 1.0, 0.3, 0.1]])
Z, P, K = np.array([0.5, -0.25]), np.array([0.3, -0.6]), 1.5
SECTIONS = np.ascontiguousarray(SOS[:, [0, 1, 2, 4, 5]])  # without what has to be 1
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [0.3, 0.8, 1.1]])
N2 = np.array([[0.5, 1.0], [-0.25, 0.75]])
W = np.array([0.3, 0.9, 1.7])
T = np.linspace(0.0, 1.0, 6)
SS = (np.array([[-0.5, 0.25], [0.1, -0.75]]), np.array([[1.0], [0.5]]), np.array([[0.75, -0.5]]), np.array([[0.2]]))
SYSTEM = {"A": SS[0], "B": SS[1], "C": SS[2], "D": SS[3]}
BA = {"b": B, "a": A}
ZPK = {"z": Z, "p": P, "k": K}
DESIGN = "The design is computed for plain numbers, with decisions on them."


def _sections(s: Any) -> Any:
    return np.concatenate([s[:, :3], np.ones((2, 1)), s[:, 3:]], 1)


def _linear() -> Iterator[Call]:
    for name in ("convolve", "fftconvolve", "oaconvolve", "correlate"):
        yield from of(f"signal.{name}", {"in1": X, "in2": H}, D="in1 in2")
    for name in ("convolve2d", "correlate2d"):
        yield from of(f"signal.{name}", {"in1": M, "in2": N2}, D="in1 in2")
    for name in ("convolve", "correlate"):
        yield from of(
            f"signal.{name}", {"in1": M, "in2": N2}, more={"method": "direct"}, tag="of matrices", D="in1 in2"
        )
    yield from of("signal.lfilter", {**BA, "x": X}, D="b a x")
    yield from of(
        "signal.lfilter",
        {**BA, "x": X, "zi": np.array([0.25, -0.5])},
        call=lambda f, b, a, x, zi: f(b, a, x, zi=zi),
        D="zi",
    )
    yield from of("signal.filtfilt", {**BA, "x": X}, D="b a x")
    yield from of("signal.sosfilt", {"sos": SECTIONS, "x": X}, call=lambda f, s, x: f(_sections(s), x), D="sos x")
    yield from of(
        "signal.sosfiltfilt", {"sos": SECTIONS, "x": LONG}, call=lambda f, s, x: f(_sections(s), x), D="sos x"
    )
    yield from of("signal.lfilter_zi", BA, D="b a")
    yield from of("signal.lfiltic", {**BA, "y": X[:2], "x": X[2:4]}, D="b a y x")
    yield from of("signal.sosfilt_zi", {"sos": SECTIONS}, call=lambda f, s: f(_sections(s)), D="sos")
    yield from of("signal.deconvolve", {"signal": X, "divisor": A}, D="signal divisor")
    yield from of("signal.upfirdn", {"h": H, "x": X}, D="h x")
    yield from of("signal.sepfir2d", {"input": M, "hrow": H, "hcol": H}, N="input hrow hcol")
    yield from of("signal.savgol_filter", {"x": X}, call=lambda f, x: f(x, 5, 2), D="x")
    yield from of("signal.savgol_filter", {"delta": 0.5}, call=lambda f, d: f(X, 5, 2, 1, d), D="delta")
    yield from of("signal.savgol_coeffs", {"delta": 0.5}, call=lambda f, d: f(5, 2, deriv=1, delta=d), D="delta")
    yield from of("signal.decimate", {"x": LONG}, call=lambda f, x: f(x, 2, 3), D="x")
    yield from of("signal.detrend", {"data": X}, D="data")
    yield from of("signal.hilbert", {"x": X}, D="x")
    yield from of("signal.hilbert2", {"x": M}, D="x")
    yield from of("signal.envelope", {"z": X}, D="z")
    yield from of("signal.resample", {"x": X}, call=lambda f, x: f(x, 8), D="x")
    yield from of("signal.resample_poly", {"x": X}, call=lambda f, x: f(x, 2, 3), D="x")
    yield from of("signal.wiener", {"im": X}, call=lambda f, x: f(x, 3), D="im")
    for name in ("medfilt", "medfilt2d"):
        yield from of(f"signal.{name}", {"x": M}, call=lambda f, x: f(x, 3), D="x")
    yield from of("signal.order_filter", {"a": M}, call=lambda f, x: f(x, np.ones((1, 3)), 1), D="a")
    yield from of("signal.symiirorder1", {"signal": np.tile(X, 9), "c0": 0.5, "z1": 0.2}, D="c0", N="signal z1")
    yield from of("signal.symiirorder2", {"input": np.tile(X, 9), "r": 0.2, "omega": 0.4}, N="input r omega")
    for name in ("cspline1d", "qspline1d"):
        yield from of(f"signal.{name}", {"signal": X}, D="signal")
        yield from of(f"signal.{name}_eval", {"cj": X, "newx": W * 4}, D="cj newx")
    for name in ("cspline2d", "qspline2d", "spline_filter"):
        yield from of(f"signal.{name}", {"signal": np.outer(np.tile(X, 5), np.tile(X, 5))}, N="signal")
    yield from of("signal.gauss_spline", {"x": W}, call=lambda f, x: f(x, 3), D="x")


def _spectra() -> Iterator[Call]:
    for name in ("periodogram", "welch"):
        yield from of(f"signal.{name}", {"x": LONG}, call=lambda f, x: f(x)[1], D="x")
        yield from of(f"signal.{name}", {"fs": 2.5}, call=lambda f, s: f(LONG, s), D="fs")
    for name in ("csd", "coherence"):
        yield from of(
            f"signal.{name}", {"x": LONG, "y": np.roll(LONG, 1)}, call=lambda f, x, y: f(x, y, nperseg=8)[1], D="x y"
        )
    yield from of("signal.spectrogram", {"x": LONG}, call=lambda f, x: f(x, nperseg=8)[2], D="x")
    yield from of("signal.welch", {"x": LONG}, call=lambda f, x: f(x, nperseg=8)[1], D="x", tag="nperseg=8")
    yield from of("signal.stft", {"x": LONG}, call=lambda f, x: f(x, nperseg=8)[2], D="x")
    yield from of("signal.istft", {"Zxx": np.ones((5, 4))}, call=lambda f, z: f(z, nperseg=8)[1], N="Zxx")
    yield from of("signal.lombscargle", {"x": T, "y": X[:6], "freqs": W}, D="x y freqs")
    yield from of("signal.vectorstrength", {"events": W, "period": 1.3}, D="events period")
    for name in ("czt", "zoom_fft"):
        more = [] if name == "czt" else [[0.1, 0.4]]
        yield from of(f"signal.{name}", {"x": X}, call=lambda f, x, m=more: f(x, *m), D="x")
    yield from of("signal.czt_points", {"w": 0.3}, call=lambda f, w: f(5, np.exp(-1j * w)), D="w")


def _responses() -> Iterator[Call]:
    for name in ("freqz", "freqs", "group_delay"):
        form = (lambda f, b, a, w: f((b, a), w)[1]) if name == "group_delay" else (lambda f, b, a, w: f(b, a, w)[1])
        yield from of(f"signal.{name}", {**BA, "w": W}, call=form, D="b a w")
    for name in ("freqz_zpk", "freqs_zpk"):
        yield from of(f"signal.{name}", {**ZPK, "w": W}, call=lambda f, z, p, k, w: f(z, p, k, w)[1], D="z p k w")
    for name in ("freqz_sos", "sosfreqz"):
        yield from of(
            f"signal.{name}", {"sos": SECTIONS, "w": W}, call=lambda f, s, w: f(_sections(s), w)[1], D="sos w"
        )
    for name in ("freqresp", "bode", "dfreqresp", "dbode"):
        system = (lambda b, a: (b, a, 0.5)) if name[0] == "d" else (lambda b, a: (b, a))
        yield from of(f"signal.{name}", {**BA, "w": W}, call=lambda f, b, a, w, s=system: f(s(b, a), w)[1], D="b a w")
    for name in ("impulse", "step"):
        yield from of(
            f"signal.{name}",
            SYSTEM,
            call=lambda f, *s: f(s, T=T)[1],
            **({"D": "A B C", "C": "D"} if name == "impulse" else {"D": "A B C D"}),
        )
    for name in ("dimpulse", "dstep"):
        yield from of(f"signal.{name}", SYSTEM, call=lambda f, *s: f((*s, 0.5), n=5)[1], D="A B C D")
    yield from of(
        "signal.lsim",
        {**SYSTEM, "U": X[:6], "T": T},
        call=lambda f, a, b, c, d, u, t: f((a, b, c, d), u, t)[1],
        D="A B C D U",
    )
    yield from of(
        "signal.dlsim", {**SYSTEM, "u": X[:6]}, call=lambda f, a, b, c, d, u: f((a, b, c, d, 0.5), u)[1], D="A B C D u"
    )
    yield from of(
        "signal.cont2discrete",
        {**SYSTEM, "dt": 0.5},
        call=lambda f, a, b, c, d, t: f((a, b, c, d), t)[:4],
        D="A B C D dt",
    )


def _smoothers() -> Iterator[Call]:
    for order in (1, 2):
        yield from of(
            "signal.whittaker_henderson",
            {"signal": X, "lamb": 1.5, "weights": X**2 + 0.5},
            call=lambda f, x, s, w, k=order: f(x, lamb=s, order=k, weights=w).x,
            tag=f"order={order}",
            D="signal lamb weights",
        )
    yield from of("signal.whittaker_henderson", {"signal": X}, call=lambda f, x: f(x).x, tag="lamb='reml'", N="signal")


def _forms() -> Iterator[Call]:
    for name in ("tf2zpk", "tf2sos", "tf2ss"):
        yield from of(f"signal.{name}", BA, D="b a")
    for name in ("zpk2tf", "zpk2sos", "zpk2ss"):
        yield from of(f"signal.{name}", ZPK, D="z p k")
    for name in ("sos2tf", "sos2zpk"):
        yield from of(f"signal.{name}", {"sos": SOS}, D="sos")
    for name in ("ss2tf", "ss2zpk"):
        yield from of(f"signal.{name}", SYSTEM, D="A B C D")
    yield from of("signal.abcd_normalize", SYSTEM, D="A B C D")
    yield from of("signal.normalize", BA, D="b a")
    for name in ("residue", "residuez"):
        yield from of(f"signal.{name}", BA, call=lambda f, b, a: f(b, a)[0], D="b", N="a")
    for name in ("invres", "invresz"):
        yield from of(f"signal.{name}", {"r": Z, "p": P, "k": np.array([1.5])}, D="r p k")
    yield from of("signal.unique_roots", {"p": P}, call=lambda f, p: f(p)[0], N="p")
    for name in ("bilinear", "lp2lp", "lp2hp"):
        last = {"fs": 2.5} if name == "bilinear" else {"wo": 1.3}
        yield from of(f"signal.{name}", {**BA, **last}, D=" ".join(["b a", *last]))
    for name in ("lp2bp", "lp2bs"):
        yield from of(f"signal.{name}", {**BA, "wo": 1.3, "bw": 0.7}, D="b a wo bw")
    for name in ("bilinear_zpk", "lp2lp_zpk", "lp2hp_zpk"):
        last = {"fs": 2.5} if name == "bilinear_zpk" else {"wo": 1.3}
        yield from of(f"signal.{name}", {**ZPK, **last}, D=" ".join(["z p k", *last]))
    for name in ("lp2bp_zpk", "lp2bs_zpk"):
        yield from of(f"signal.{name}", {**ZPK, "wo": 1.3, "bw": 0.7}, D="z p k wo bw")
    yield from of("signal.findfreqs", {"num": B, "den": A}, call=lambda f, b, a: f(b, a, 4), C="num den")
    yield from of(
        "signal.place_poles", {"A": SS[0], "B": SS[1]}, call=lambda f, a, b: f(a, b, [-1.0, -2.0]).gain_matrix, D="A B"
    )
    yield from of("signal.minimum_phase", {"h": np.array([0.5, 1.0, 2.0, 1.0, 0.5])}, D="h")


def _designs() -> Iterator[Call]:
    desired, weight = np.array([1.0, 0.9, 0.1, 0.05]), np.array([1.0, 2.0])
    yield from of(
        "signal.firls",
        {"desired": desired, "weight": weight},
        call=lambda f, d, w: f(5, [0.0, 0.3, 0.4, 1.0], d, weight=w),
        D="desired weight",
    )
    for name, more in {"butter": [], "bessel": [], "cheby1": [1.0], "cheby2": [20.0], "ellip": [1.0, 20.0]}.items():
        yield from of(f"signal.{name}", {"Wn": 0.3}, call=lambda f, w, m=more: f(3, *m, w), D="Wn")
    yield from of("signal.cheby1", {"rp": 1.0}, call=lambda f, r: f(3, r, 0.3), D="rp")
    yield from of("signal.cheby2", {"rs": 20.0}, call=lambda f, r: f(3, r, 0.3), D="rs")
    yield from of("signal.ellip", {"rp": 1.0, "rs": 20.0}, call=lambda f, p, s: f(3, p, s, 0.3), D="rp rs")
    yield from of("signal.iirfilter", {"Wn": 0.3}, call=lambda f, w: f(3, w, btype="low"), D="Wn")
    yield from of("signal.iirdesign", {"wp": 0.3}, call=lambda f, w: f(w, 0.6, 1.0, 20.0), D="wp")
    for name in ("iirnotch", "iirpeak"):
        yield from of(f"signal.{name}", {"w0": 0.3, "Q": 5.0}, D="w0 Q")
    yield from of("signal.iircomb", {"Q": 5.0}, call=lambda f, q: f(0.25, q), D="Q")
    yield from of("signal.gammatone", {"freq": 440.0}, call=lambda f, w: f(w, "iir", fs=16000.0), D="freq")
    for name in ("buttord", "cheb1ord", "cheb2ord", "ellipord"):
        yield from of(
            f"signal.{name}", {"wp": 0.32, "ws": 0.6}, call=lambda f, p, s: f(p, s, 1.0, 20.0)[1], D="wp", C="ws"
        )
    for name in ("cheb1ap", "cheb2ap"):
        yield from of(f"signal.{name}", {"rp": 2.0}, call=lambda f, r: f(3, r), D="rp")
    yield from of("signal.ellipap", {"rp": 1.0, "rs": 20.0}, call=lambda f, p, s: f(3, p, s), D="rp rs")
    yield from of(
        "signal.band_stop_obj",
        {"wp": 0.3},
        call=lambda f, w: f(w, 0, np.array([0.1, 0.9]), np.array([0.2, 0.8]), 1.0, 20.0, "butter"),
        N="wp",
    )
    yield from of("signal.firwin", {"cutoff": 0.3}, call=lambda f, c: f(5, c), D="cutoff")
    yield from of(
        "signal.firwin2", {"gain": np.array([1.0, 0.5, 0.0])}, call=lambda f, g: f(5, [0.0, 0.5, 1.0], g), D="gain"
    )
    yield from of(
        "signal.remez", {"desired": np.array([1.0, 0.1])}, call=lambda f, d: f(5, [0.0, 0.3, 0.4, 0.5], d), N="desired"
    )
    yield from of("signal.kaiser_atten", {"width": 0.3}, call=lambda f, w: f(9, w), D="width")
    yield from of("signal.kaiser_beta", {"a": 40.0}, D="a")
    yield from of("signal.kaiserord", {"ripple": 40.0, "width": 0.3}, call=lambda f, r, w: f(r, w)[1], D="ripple")


def _waves() -> Iterator[Call]:
    yield from of("signal.chirp", {"t": W, "f0": 1.5, "t1": 2.0, "f1": 3.5}, D="t f0 t1 f1")
    yield from of("signal.gausspulse", {"t": W / 9, "fc": 2.5, "bw": 0.5}, D="t fc bw")
    yield from of("signal.sawtooth", {"t": W, "width": 0.8}, D="t width")
    yield from of("signal.square", {"t": W, "duty": 0.4}, C="t duty")
    yield from of("signal.sweep_poly", {"t": W}, call=lambda f, t: f(t, np.poly1d([0.5, 1.0])), D="t")
    for name in ("argrelmax", "argrelmin"):
        yield from of(f"signal.{name}", {"data": X}, C="data")
    yield from of("signal.argrelextrema", {"data": X}, call=lambda f, x: f(x, np.greater), C="data")
    yield from of("signal.find_peaks", {"x": X}, call=lambda f, x: f(x)[0], C="x")
    yield from of(
        "signal.find_peaks",
        {"x": X},
        call=lambda f, x: f(x, height=0.0, prominence=0.1)[1]["prominences"],
        tag="heights, thresholds and prominences",
        D="x",
    )
    yield from of("signal.find_peaks_cwt", {"vector": LONG}, call=lambda f, x: f(x, [1, 2]), C="vector")
    for name in ("peak_prominences", "peak_widths"):
        yield from of(f"signal.{name}", {"x": X}, call=lambda f, x: f(x, [2])[0], N="x")
    yield from of("signal.choose_conv_method", {"in1": X, "in2": H}, S="in1 in2")


ROWS = [*_linear(), *_spectra(), *_responses(), *_smoothers(), *_forms(), *_designs(), *_waves()]
LEFT = {
    "Objects of systems and transforms": (
        "CZT ShortTimeFFT StateSpace TransferFunction ZerosPolesGain ZoomFFT dlti lti"
    ),
    "Of sizes, names and whole numbers": (
        "besselap buttap check_COLA check_NOLA correlation_lags firwin_2d get_window max_len_seq unit_impulse"
    ),
    "Of plain windows": "closest_STFT_dual_window",
}
