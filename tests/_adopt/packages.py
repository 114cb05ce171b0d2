"""Functions of scientific packages that never heard of hoad, as their users call them.

Each row makes a function of one array or number; what it imports is imported by its maker, so that a table of rows
needs no package. All have a derivative at the row's argument, and near it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Row:
    """A function of a package, and where its derivative is looked at."""

    package: str
    label: str
    module: str  # what the maker is given
    build: Callable[[Any], Function]
    value: Any
    # "runs"; "keeps", if an object keeps traced values, so that a plain call raises afterwards; or "stops: NAME", with
    # what stands in the way, as the traceback names it
    expect: str
    rtol: float  # of the derivative; larger where the package solves an equation to a tolerance of its own

    def make(self) -> Function:
        return self.build(importlib.import_module(self.module))

    def __str__(self) -> str:
        return f"{self.package}: {self.label}"


ROWS: list[Row] = []


def summed(f: Function) -> Function:
    """f as a function with one result: what it returns, weighted so that no two numbers of it can be mixed up."""

    def weighted(x: Any) -> Any:
        y = f(x)
        return y if np.ndim(y) == 0 else np.sum(np.cos(np.arange(np.size(y))).reshape(np.shape(y)) * y)

    return weighted


def second(value: Any) -> Any:
    """A point beside the argument of a row."""
    if np.ndim(value) == 0:
        return value * 1.004
    return value * (1.003 + 0.002 * np.cos(np.arange(np.size(value))).reshape(np.shape(value)))


def differences(f: Function, x: Any) -> tuple[Any, Any]:
    """The gradient of f by central differences, extrapolated as Richardson and Ridders do, and its errors."""
    slopes, errors = np.zeros(np.size(x)), np.zeros(np.size(x))
    for i, value in enumerate(np.ravel(x)):
        rows: list[list[float]] = []
        error = np.inf
        for k in range(12):
            h = 0.01 * (abs(value) or 1.0) / 1.6**k
            ends = []
            for end in (value + h, value - h):
                point = np.array(x)
                point.flat[i] = end
                ends.append(float(f(point if np.ndim(x) else end)))
            row = [(ends[0] - ends[1]) / ((value + h) - (value - h))]
            for j in range(k):
                factor = 1.6 ** (2 * j + 2)
                row.append((factor * row[j] - rows[-1][j]) / (factor - 1.0))
                here = max(abs(row[-1] - row[j]), abs(row[-1] - rows[-1][j]))
                if here <= error:
                    error, slopes[i] = here, row[-1]
            rows.append(row)
        errors[i] = error
    return slopes.reshape(np.shape(x)), errors.reshape(np.shape(x))


def mistake(row: Row, plain: Function, x: Any, value: Any, gradient: Any) -> str:
    """What is wrong with a value and a gradient that hoad found for a plain function, or nothing."""
    wanted = plain(x)
    if np.shape(value) != np.shape(wanted) or not abs(value - wanted) <= 1e-12 * abs(wanted) + 1e-300:
        return f"the value is {value!r}, not {wanted!r}"
    slopes, errors = differences(plain, x)
    size = np.max(np.abs(slopes))
    if not size > 0.0 or not np.max(errors) <= 0.1 * row.rtol * size:
        return f"differences are too coarse: {slopes} ± {errors}"
    if np.shape(gradient) != np.shape(x) or not np.max(np.abs(gradient - slopes)) <= row.rtol * size:
        return f"the gradient is {gradient!r}, not {slopes!r}"
    return ""


def add(
    module: str, label: str, value: Any, build: Callable[[Any], Function], expect: str = "runs", rtol: float = 1e-7
) -> None:
    value = np.array(value, float) if np.ndim(value) else float(value)
    ROWS.append(Row(module.split(".")[0], label, module, build, value, expect, rtol))


def row(module: str, label: str, value: Any, expect: str = "runs", rtol: float = 1e-7) -> Callable[[Any], Any]:
    """The decorator of a maker."""
    return lambda build: add(module, label, value, build, expect, rtol)


def data(n: int = 20, seed: int = 0) -> tuple[Any, Any]:
    """A design matrix with a constant, and noise."""
    rng = np.random.default_rng(seed)
    return np.column_stack([np.ones(n), rng.normal(size=(n, 2))]), rng.normal(size=n)


X, NOISE = data()
LINE = X @ [1.0, 0.5, -0.3] + 0.4 * NOISE  # a response on the line, one of zeros and ones, one of counts
BINARY = (LINE > 1.0) * 1.0
COUNTS = np.floor(np.exp(0.5 * LINE) + 0.7)
GRID = np.linspace(-2.0, 2.5, 9)
POINTS = np.array([[0.1, 0.3], [0.8, -0.2], [-0.5, 0.9], [1.4, 0.6]])
BETA = [0.8, 0.4, -0.2]
PROBABILITIES = [0.2, 0.7, 0.6, 0.35]
CLASSES = np.array([0, 1, 1, 0])
TARGETS = np.array([1.0, 2.5, 0.7, 3.1])
NEAR = [1.2, 2.2, 0.9, 2.7]

# ---- statsmodels -----------------------------------------------------------------------------------------------------

add("statsmodels.api", "OLS.loglike", BETA, lambda sm: sm.OLS(LINE, X).loglike)
add("statsmodels.api", "WLS.loglike", BETA, lambda sm: sm.WLS(LINE, X, weights=1.0 + X[:, 1] ** 2).loglike)
add("statsmodels.api", "GLS.loglike", BETA, lambda sm: sm.GLS(LINE, X, sigma=1.0 + X[:, 1] ** 2).loglike)
add("statsmodels.api", "Logit.loglike", BETA, lambda sm: sm.Logit(BINARY, X).loglike)
add("statsmodels.api", "Probit.loglike", BETA, lambda sm: sm.Probit(BINARY, X).loglike)
add("statsmodels.api", "Poisson.loglike", BETA, lambda sm: sm.Poisson(COUNTS, X).loglike)
add("statsmodels.api", "NegativeBinomial.loglike", [*BETA, 0.6], lambda sm: sm.NegativeBinomial(COUNTS, X).loglike)
add("statsmodels.api", "MNLogit.loglike", BETA, lambda sm: sm.MNLogit(BINARY, X).loglike)
add(
    "statsmodels.api", "ZeroInflatedPoisson.loglike", [0.3, *BETA], lambda sm: sm.ZeroInflatedPoisson(COUNTS, X).loglike
)
add("statsmodels.api", "GLM.loglike, Poisson", BETA, lambda sm: sm.GLM(COUNTS, X, sm.families.Poisson()).loglike)
add("statsmodels.api", "GLM.loglike, binomial", BETA, lambda sm: sm.GLM(BINARY, X, sm.families.Binomial()).loglike)


@row("statsmodels.api", "GLM.loglike, gamma with a log link", BETA)
def _(sm: Any) -> Function:
    return sm.GLM(np.exp(LINE), X, sm.families.Gamma(sm.families.links.Log())).loglike


@row("statsmodels.othermod.betareg", "BetaModel.loglike", [*BETA, 1.0])
def _(betareg: Any) -> Function:
    return betareg.BetaModel(1.0 / (1.0 + np.exp(-LINE)), X).loglike


@row("statsmodels.miscmodels.ordinal_model", "OrderedModel.loglike", [0.4, -0.2, 0.5, 0.1])
def _(ordinal: Any) -> Function:
    return ordinal.OrderedModel(np.digitize(LINE, [0.5, 1.3]), X[:, 1:], distr="logit").loglike


@row("statsmodels.api", "PHReg.loglike", [0.4, -0.2])
def _(sm: Any) -> Function:
    return sm.PHReg(np.exp(LINE), X[:, 1:], status=np.arange(20) % 4 > 0).loglike


@row("statsmodels.tsa.api", "ARIMA.loglike", [0.1, 0.5, 0.3, 0.8], "stops: statespace")
def _(tsa: Any) -> Function:
    return tsa.ARIMA(LINE, order=(1, 0, 1)).loglike


add("statsmodels.robust.norms", "TukeyBiweight.rho", GRID, lambda norms: norms.TukeyBiweight().rho)
add("statsmodels.genmod.families.links", "CLogLog", PROBABILITIES, lambda links: links.CLogLog())
add("statsmodels.stats.stattools", "durbin_watson", NOISE, lambda tools: tools.durbin_watson)
add("statsmodels.stats.stattools", "jarque_bera", NOISE, lambda tools: lambda x: tools.jarque_bera(x)[0])
add("statsmodels.tsa.stattools", "acf", NOISE, lambda tools: lambda x: tools.acf(x, nlags=4, fft=False))


@row("statsmodels.distributions.copula.api", "GumbelCopula.logpdf", PROBABILITIES)
def _(copulas: Any) -> Function:
    copula = copulas.GumbelCopula(theta=1.7)
    return lambda u: copula.logpdf(np.column_stack([u, u[::-1]]))


@row("statsmodels.tsa.api", "hpfilter", LINE, "stops: spsolve")
def _(tsa: Any) -> Function:
    return lambda x: tsa.filters.hpfilter(x, 10.0)[1]


# ---- scikit-learn ----------------------------------------------------------------------------------------------------

KERNELS = "sklearn.gaussian_process.kernels"
add(KERNELS, "RBF of points", POINTS, lambda k: lambda x: k.RBF(0.8)(x, POINTS + 0.3))
add(KERNELS, "RBF of its length scale", 0.8, lambda k: lambda s: k.RBF(s)(POINTS))
add(KERNELS, "Matern of its length scale", 0.8, lambda k: lambda s: k.Matern(s, nu=2.5)(POINTS))
add(KERNELS, "RationalQuadratic", 0.8, lambda k: lambda s: k.RationalQuadratic(length_scale=s, alpha=1.5)(POINTS))
add(KERNELS, "ExpSineSquared", 0.8, lambda k: lambda s: k.ExpSineSquared(length_scale=s, periodicity=2.0)(POINTS))
add(KERNELS, "DotProduct of points", POINTS, lambda k: k.DotProduct(0.5) * k.ConstantKernel(2.0))


@row("sklearn.gaussian_process", "GaussianProcessRegressor.log_marginal_likelihood", [0.1, -0.3])
def _(gaussian: Any) -> Function:
    kernel = gaussian.kernels.ConstantKernel(1.0) * gaussian.kernels.RBF(0.8)
    model = gaussian.GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X[:, 1:], LINE)
    return model.log_marginal_likelihood


@row("sklearn.gaussian_process", "GaussianProcessRegressor.predict", POINTS)
def _(gaussian: Any) -> Function:
    return gaussian.GaussianProcessRegressor(alpha=0.1, optimizer=None).fit(X[:, 1:], LINE).predict


METRICS = "sklearn.metrics"
add(METRICS, "mean_squared_error", NEAR, lambda m: lambda x: m.mean_squared_error(TARGETS, x))
add(METRICS, "r2_score", NEAR, lambda m: lambda x: m.r2_score(TARGETS, x))
add(METRICS, "log_loss", PROBABILITIES, lambda m: lambda p: m.log_loss(CLASSES, p))
add(METRICS, "brier_score_loss", PROBABILITIES, lambda m: lambda p: m.brier_score_loss(CLASSES, p))
add(METRICS, "mean_tweedie_deviance", NEAR, lambda m: lambda x: m.mean_tweedie_deviance(TARGETS, x, power=1.5))
add(METRICS, "mean_squared_log_error", NEAR, lambda m: lambda x: m.mean_squared_log_error(TARGETS, x))
add("sklearn.metrics.pairwise", "rbf_kernel", POINTS, lambda m: lambda x: m.rbf_kernel(x, POINTS + 0.3, gamma=0.7))
add("sklearn.metrics.pairwise", "cosine_similarity", POINTS, lambda m: m.cosine_similarity)


@row("sklearn.metrics.pairwise", "chi2_kernel", POINTS + 1.0, "stops: _chi2_kernel_fast")
def _(pairwise: Any) -> Function:
    return lambda x: pairwise.chi2_kernel(x, POINTS + 1.2)


@row("sklearn.linear_model", "LogisticRegression.predict_proba", X[:4, 1:])
def _(linear: Any) -> Function:
    return linear.LogisticRegression().fit(X[:, 1:], BINARY).predict_proba


@row("sklearn.preprocessing", "StandardScaler.fit_transform", POINTS)
def _(preprocessing: Any) -> Function:
    return lambda x: preprocessing.StandardScaler().fit_transform(x)


@row("sklearn.neural_network", "MLPRegressor.predict", POINTS)
def _(networks: Any) -> Function:
    model = networks.MLPRegressor(hidden_layer_sizes=(3,), activation="tanh", solver="lbfgs", random_state=0, tol=1.0)
    return model.fit(X[:, 1:], LINE).predict


@row("sklearn.mixture", "GaussianMixture.score_samples", POINTS)
def _(mixture: Any) -> Function:
    return mixture.GaussianMixture(2, random_state=0, max_iter=5, tol=1.0).fit(X[:, 1:]).score_samples


@row("sklearn.svm", "SVR.predict", POINTS, "stops: libsvm")
def _(svm: Any) -> Function:
    return svm.SVR(gamma=0.5).fit(X[:, 1:], LINE).predict


# ---- filterpy and pykalman -------------------------------------------------------------------------------------------


def tracker(kalman: Any, kind: str = "KalmanFilter") -> Any:
    """A filter of position and speed from positions."""
    model = getattr(kalman, kind)(dim_x=2, dim_z=1)
    model.x, model.F, model.H = np.array([0.3, 0.5]), np.array([[1.0, 0.2], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    return model


@row("filterpy.kalman", "KalmanFilter.log_likelihood of the noise", 0.3)
def _(kalman: Any) -> Function:
    def log_likelihood(noise: Any) -> Any:
        model, total = tracker(kalman), 0.0
        model.R *= noise
        for z in LINE[:5]:
            model.predict()
            model.update(z)
            total += model.log_likelihood
        return total

    return log_likelihood


@row("filterpy.kalman", "KalmanFilter.batch_filter", LINE[:6])
def _(kalman: Any) -> Function:
    return lambda zs: tracker(kalman).batch_filter(zs)[0]


@row("filterpy.kalman", "kalman_filter.update", [0.3, 0.5])
def _(kalman: Any) -> Function:
    covariance, seen, noise, observe = np.diag([0.5, 0.3]), np.array([0.9]), np.array([[0.2]]), np.array([[1.0, 0.0]])
    return lambda x: kalman.update(x, covariance, seen, noise, observe)[0]


@row("filterpy.kalman", "UnscentedKalmanFilter of the first position", 0.4)
def _(kalman: Any) -> Function:
    def seen(x: Any) -> Any:
        return np.array([np.hypot(x[0], 1.0)])

    def moved(x: Any, dt: float) -> Any:
        return np.array([x[0] + dt * x[1], x[1]])

    def state(position: Any) -> Any:
        sigma = kalman.MerweScaledSigmaPoints(2, alpha=0.5, beta=2.0, kappa=1.0)
        model = kalman.UnscentedKalmanFilter(2, 1, 0.2, seen, moved, sigma)
        model.x = np.array([position, 0.5])
        for z in (1.1, 1.3):
            model.predict()
            model.update(np.array([z]))
        return model.x

    return state


@row("filterpy.common", "Q_discrete_white_noise", 0.3)
def _(common: Any) -> Function:
    return lambda dt: common.Q_discrete_white_noise(3, dt=dt, var=2.0)


add(
    "filterpy.stats",
    "logpdf",
    [0.3, 0.1],
    lambda s: lambda x: s.logpdf(x, np.zeros(2), np.array([[1.0, 0.2], [0.2, 0.8]])),
)
add("filterpy.stats", "gaussian", 0.3, lambda s: lambda x: s.gaussian(x, 0.1, 0.5))
add("filterpy.stats", "mahalanobis", [0.3, 0.1], lambda s: lambda x: s.mahalanobis(x, np.ones(2), np.diag([1.0, 0.8])))


@row("pykalman", "KalmanFilter.loglikelihood of the observations", LINE[:5])
def _(pykalman: Any) -> Function:
    model = pykalman.KalmanFilter(0.8, 1.0, transition_covariance=0.5, observation_covariance=0.3)
    return model.loglikelihood


@row("pykalman", "KalmanFilter.smooth of the noise", 0.3)
def _(pykalman: Any) -> Function:
    def smoothed(noise: Any) -> Any:
        model = pykalman.KalmanFilter(0.8, 1.0, transition_covariance=0.5, observation_covariance=noise)
        return model.smooth(LINE[:5])[0]

    return smoothed


@row("pykalman", "AdditiveUnscentedKalmanFilter.filter", LINE[:4])
def _(pykalman: Any) -> Function:
    model = pykalman.AdditiveUnscentedKalmanFilter(lambda x: np.sin(x), lambda x: x + x**3)
    return lambda z: model.filter(z)[0]


# ---- GPy -------------------------------------------------------------------------------------------------------------

add("GPy", "kern.RBF.K of points", POINTS, lambda GPy: lambda x: GPy.kern.RBF(2, 1.5, 0.8).K(x, POINTS + 0.3))
add("GPy", "kern.Matern32.K of points", POINTS, lambda GPy: lambda x: GPy.kern.Matern32(2, 1.5, 0.8).K(x, POINTS + 0.3))
add("GPy", "kern.Poly.K of points", POINTS, lambda GPy: lambda x: GPy.kern.Poly(2, order=3.0).K(x))
add("GPy", "kern.MLP.K of points", POINTS, lambda GPy: lambda x: GPy.kern.MLP(2).K(x, POINTS + 0.3))


@row("GPy", "GPRegression.log_likelihood", [1.1, 0.8, 0.2], "stops: param_array")
def _(GPy: Any) -> Function:
    model = GPy.models.GPRegression(X[:, 1:], LINE[:, None], GPy.kern.RBF(2))

    def log_likelihood(parameters: Any) -> Any:
        model[:] = parameters
        return model.log_likelihood()

    return log_likelihood


# ---- lmfit -----------------------------------------------------------------------------------------------------------

LINESHAPES = "lmfit.lineshapes"
add(LINESHAPES, "gaussian", GRID, lambda m: lambda x: m.gaussian(x, 2.0, 0.3, 0.7))
add(LINESHAPES, "voigt", GRID, lambda m: lambda x: m.voigt(x, 2.0, 0.3, 0.7, 0.4))
add(LINESHAPES, "voigt of its width", 0.7, lambda m: lambda s: m.voigt(GRID, 2.0, 0.3, s))
add(LINESHAPES, "pearson7 of its exponent", 1.4, lambda m: lambda e: m.pearson7(GRID, 2.0, 0.3, 0.7, e))
add(LINESHAPES, "split_lorentzian", GRID, lambda m: lambda x: m.split_lorentzian(x, 2.0, 0.3, 0.7, 0.9))
add(LINESHAPES, "doniach", GRID, lambda m: lambda x: m.doniach(x, 2.0, 0.3, 0.7, 0.1))
add(LINESHAPES, "expgaussian", GRID, lambda m: lambda x: m.expgaussian(x, 2.0, 0.3, 0.7, 1.2))
add(LINESHAPES, "students_t of its width", 0.7, lambda m: lambda s: m.students_t(GRID, 2.0, 0.3, s))
add(LINESHAPES, "breit_wigner", GRID, lambda m: lambda x: m.breit_wigner(x, 2.0, 0.3, 0.7, 1.5))
add(LINESHAPES, "thermal_distribution", GRID, lambda m: lambda x: m.thermal_distribution(x, 2.0, -5.0, 0.7, "fermi"))


@row("lmfit.models", "GaussianModel.eval of its width", 0.7)
def _(models: Any) -> Function:
    model = models.GaussianModel() + models.LinearModel()
    return lambda s: model.eval(x=GRID, amplitude=2.0, center=0.3, sigma=s, slope=0.2, intercept=1.0)


# ---- arch ------------------------------------------------------------------------------------------------------------


@row("arch.univariate", "Normal.loglikelihood", np.exp(0.3 * NOISE))
def _(univariate: Any) -> Function:
    return lambda variance: univariate.Normal().loglikelihood([], LINE, variance)


@row("arch.univariate", "StudentsT.loglikelihood", [6.5])
def _(univariate: Any) -> Function:
    return lambda p: univariate.StudentsT().loglikelihood(p, LINE, np.exp(0.3 * NOISE))


@row("arch.univariate", "SkewStudent.loglikelihood", [6.5, -0.2])
def _(univariate: Any) -> Function:
    return lambda p: univariate.SkewStudent().loglikelihood(p, LINE, np.exp(0.3 * NOISE))


@row("arch.univariate", "GARCH.compute_variance", [0.1, 0.2, 0.6], "stops: garch_recursion")
def _(univariate: Any) -> Function:
    bounds = np.tile([1e-6, 1e6], (20, 1))

    def variance(p: Any) -> Any:
        return univariate.GARCH(1, 0, 1).compute_variance(p, LINE, np.zeros(20), 0.7, bounds)

    return variance


@row("arch.univariate", "ARX.resids", [0.2, 0.5])
def _(univariate: Any) -> Function:
    model = univariate.ARX(LINE, lags=1)
    model.fit(disp="off")
    return model.resids


# ---- pyhf ------------------------------------------------------------------------------------------------------------


@row("pyhf", "Model.logpdf", [1.1, 0.9, 1.05])
def _(pyhf: Any) -> Function:
    model = pyhf.simplemodels.uncorrelated_background([12.0, 11.0], [50.0, 52.0], [3.0, 7.0])
    observed = [51.0, 48.0, *model.config.auxdata]
    return lambda p: model.logpdf(p, observed)


@row("pyhf", "Model.expected_data", [1.1, 0.3])
def _(pyhf: Any) -> Function:
    return pyhf.simplemodels.correlated_background([12.0, 11.0], [50.0, 52.0], [55.0, 59.0], [45.0, 46.0]).expected_data


@row("pyhf", "probability.Normal.log_prob", [0.3, 0.8])
def _(pyhf: Any) -> Function:
    return lambda x: pyhf.probability.Normal(np.array([0.1, 0.4]), np.array([0.5, 0.7])).log_prob(x)


@row("pyhf.interpolators", "code4", [0.3, -1.4])
def _(interpolators: Any) -> Function:
    code = interpolators.code4([[[[0.9, 0.8], [1.0, 1.0], [1.1, 1.3]]]])
    return lambda alphas: code(alphas.reshape(1, 2))


# ---- thermo and chemicals --------------------------------------------------------------------------------------------


@row("thermo.eos", "PR: volume of the liquid", 299.0)
def _(eos: Any) -> Function:
    return lambda T: eos.PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=T, P=1e6).V_l


@row("thermo.eos", "SRK: fugacity of the liquid", 1e6)
def _(eos: Any) -> Function:
    return lambda P: eos.SRK(Tc=507.6, Pc=3025000.0, omega=0.2975, T=299.0, P=P).fugacity_l


@row("thermo.nrtl", "NRTL.GE of the temperature", 330.0)
def _(nrtl: Any) -> Function:
    tau = [[0.0, -121.2691], [184.0, 0.0]]
    return lambda T: nrtl.NRTL(T=T, xs=[0.252, 0.748], tau_bs=tau, alpha_cs=[[0.0, 0.2974], [0.2974, 0.0]]).GE()


@row("thermo.wilson", "Wilson_gammas of the fractions", [0.252, 0.748])
def _(wilson: Any) -> Function:
    return lambda xs: wilson.Wilson_gammas(xs, [[1.0, 0.154], [0.888, 1.0]])


add("chemicals", "Antoine", 100.0, lambda m: lambda T: m.Antoine(T, 8.7687, 395.744, -6.469))
add("chemicals", "Wagner", 190.53, lambda m: lambda T: m.Wagner(T * 0.5, 190.53, 4596420.0, -6.0, 1.2, -0.8, -1.2))
add("chemicals", "Lee_Kesler", 347.2, lambda m: lambda T: m.Lee_Kesler(T, 617.1, 36e5, 0.299))
add("chemicals", "COSTALD", 272.03889, lambda m: lambda T: m.COSTALD(T, 369.83333, 0.20008161e-3, 0.1532))
add("chemicals", "Shomate", 300.0, lambda m: lambda T: m.Shomate(T, 30.09, 6.83e-3, 6.79e-6, -2.53e-9, 8.2e4))
add("chemicals", "Lastovka_Shaw", 1000.0, lambda m: lambda T: m.Lastovka_Shaw(T, 0.1333))
add(
    "chemicals",
    "Zabransky_quasi_polynomial",
    330.0,
    lambda m: lambda T: m.Zabransky_quasi_polynomial(T, 591.79, -3.1, 0.85, 0, 1, 2, 0.0),
)
add("chemicals", "iapws95_P", 600.0, lambda m: lambda T: m.iapws95_P(T, 400.0))
add("chemicals", "mu_IAPWS", 298.15, lambda m: lambda T: m.mu_IAPWS(T, 998.0))
add("chemicals", "EQ105", 300.0, lambda m: lambda T: m.EQ105(T, 0.128, 0.273, 600.0, 0.3))


@row("chemicals", "Rachford_Rice_solution", [1.685, 0.742, 0.532], rtol=1e-6)
def _(chemicals: Any) -> Function:
    return lambda Ks: chemicals.Rachford_Rice_solution(zs=[0.5, 0.3, 0.2], Ks=Ks)[0]


@row("chemicals", "Wilke", [1.5e-5, 1.9e-5, 1.1e-5])
def _(chemicals: Any) -> Function:
    return lambda mus: chemicals.Wilke([0.3, 0.5, 0.2], mus, [28.0, 32.0, 44.0])


# ---- fluids and ht ---------------------------------------------------------------------------------------------------

add("fluids", "friction_factor", 1e5, lambda m: lambda Re: m.friction_factor(Re, eD=1e-4))
add("fluids", "Colebrook", 1e5, lambda m: lambda Re: m.friction.Colebrook(Re, 1e-4))
add("fluids", "drag_sphere", 200.0, lambda m: m.drag_sphere)
add("fluids", "v_terminal", 70e-6, lambda m: lambda D: m.v_terminal(D, 2600.0, 1000.0, 1e-3), rtol=1e-5)
add("fluids", "Ergun", 0.4, lambda m: lambda voidage: m.Ergun(8e-4, voidage, 1e-3, 1e3, 1e-3))
add("fluids", "ATMOSPHERE_1976", 5000.0, lambda m: lambda Z: m.ATMOSPHERE_1976(Z).rho)
add("fluids", "isothermal_gas", 1e6, lambda m: lambda P: m.isothermal_gas(11.3, 0.00185, P1=P, P2=9e5, L=1000.0, D=0.5))
add("fluids", "Friedel", 0.6, lambda m: lambda v: m.two_phase.Friedel(v, 0.1, 915.0, 2.67, 180e-6, 14e-6, 0.0487, 0.05))
add("ht", "LMTD", 100.0, lambda ht: lambda T: ht.LMTD(T, 60.0, 30.0, 40.2))
add("ht", "Nu_conv_internal", 1e5, lambda ht: lambda Re: ht.Nu_conv_internal(Re, 0.7))
add(
    "ht", "effectiveness_from_NTU", 5.0, lambda ht: lambda n: ht.effectiveness_from_NTU(n, 0.7, "crossflow, mixed Cmax")
)
add("ht", "blackbody_spectral_radiance", 800.0, lambda ht: lambda T: ht.blackbody_spectral_radiance(T, 4e-6))
add("ht", "Nu_vertical_plate_Churchill", 0.69, lambda ht: lambda Pr: ht.Nu_vertical_plate_Churchill(Pr, 2.63e9))
add(
    "ht",
    "fin_efficiency_Kern_Kraus",
    0.0254,
    lambda ht: lambda d: ht.fin_efficiency_Kern_Kraus(d, 0.05715, 3.8e-4, 200.0, 58.0),
)

# ---- astropy ---------------------------------------------------------------------------------------------------------

MODELS = "astropy.modeling.models"
add(MODELS, "Gaussian1D", GRID, lambda m: m.Gaussian1D(2.0, 0.3, 0.7))
add(MODELS, "Gaussian1D.evaluate of its width", 0.7, lambda m: lambda s: m.Gaussian1D.evaluate(GRID, 2.0, 0.3, s))
add(MODELS, "Voigt1D", GRID, lambda m: m.Voigt1D(0.3, 2.0, 0.8, 0.5))
add(MODELS, "Voigt1D of its width, cached", 0.8, lambda m: lambda w: m.Voigt1D().evaluate(GRID, 0.3, 2.0, w, 0.5))
add(MODELS, "Sersic1D of its radius", 1.4, lambda m: lambda r: m.Sersic1D.evaluate(GRID + 3.0, 1.0, r, 2.5))
add(
    MODELS,
    "Moffat1D + Chebyshev1D",
    GRID,
    lambda m: m.Moffat1D(2.0, 0.3, 0.7, 1.5) + m.Chebyshev1D(2, c0=1.0, c1=0.2, c2=0.1),
)
add(MODELS, "SmoothlyBrokenPowerLaw1D", GRID + 3.0, lambda m: m.SmoothlyBrokenPowerLaw1D(1.0, 2.0, -1.0, 2.0, 0.3))
add(MODELS, "KingProjectedAnalytic1D", GRID + 3.0, lambda m: m.KingProjectedAnalytic1D(1.0, 1.0, 9.0))
add("astropy.stats", "biweight_location", NOISE, lambda m: m.biweight_location)
add("astropy.coordinates", "angular_separation", 0.3, lambda m: lambda lon: m.angular_separation(lon, 0.2, 1.1, 0.4))
add("astropy.cosmology", "FlatLambdaCDM.efunc", 0.7, lambda m: m.FlatLambdaCDM(H0=70.0, Om0=0.3, Tcmb0=2.7).efunc)
add(
    "astropy.cosmology",
    "FlatLambdaCDM.lookback_distance",
    0.7,
    lambda m: lambda z: m.FlatLambdaCDM(70.0, 0.3).lookback_distance(z).value,
    "stops: Quantity",
)

# ---- colour ----------------------------------------------------------------------------------------------------------

COLOUR = [0.2065, 0.1219, 0.0514]
add("colour", "XYZ_to_Lab", COLOUR, lambda colour: colour.XYZ_to_Lab)
add("colour", "XYZ_to_sRGB", COLOUR, lambda colour: colour.XYZ_to_sRGB)
add("colour", "XYZ_to_Oklab", COLOUR, lambda colour: colour.XYZ_to_Oklab)
add("colour", "XYZ_to_xyY", COLOUR, lambda colour: colour.XYZ_to_xyY)
add("colour", "RGB_to_HSV", [0.456, 0.031, 0.041], lambda colour: colour.RGB_to_HSV)
add(
    "colour",
    "delta_E, CIE 2000",
    [48.99, -0.2, -3.0],
    lambda colour: lambda lab: colour.delta_E(lab, [50.65, -0.1, 1.5]),
)
add("colour.colorimetry", "planck_law", 500e-9, lambda m: lambda wavelength: m.planck_law(wavelength, 5500.0))

# ---- pvlib -----------------------------------------------------------------------------------------------------------

ANGLES = [20.0, 45.0, 70.0]
add("pvlib.atmosphere", "get_relative_airmass", ANGLES, lambda m: m.get_relative_airmass)
add("pvlib.atmosphere", "alt2pres", 1500.0, lambda m: m.alt2pres)
add(
    "pvlib.irradiance",
    "haydavies",
    ANGLES,
    lambda m: lambda zenith: m.haydavies(20.0, 180.0, 100.0, 600.0, 1400.0, zenith, 170.0),
)
add(
    "pvlib.irradiance",
    "perez_driesse",
    30.0,
    lambda m: lambda tilt: m.perez_driesse(tilt, 180.0, 100.0, 600.0, 1400.0, 40.0, 170.0, 1.3),
)
add("pvlib.iam", "physical", ANGLES, lambda m: m.physical)
add("pvlib.iam", "martin_ruiz", ANGLES, lambda m: m.martin_ruiz)
add("pvlib.temperature", "sapm_cell", 800.0, lambda m: lambda poa: m.sapm_cell(poa, 20.0, 3.0, -3.47, -0.0594, 3.0))
add("pvlib.clearsky", "simplified_solis", ANGLES, lambda m: lambda elevation: m.simplified_solis(elevation)["ghi"])
add("pvlib.pvsystem", "i_from_v", [10.0, 20.0, 30.0], lambda m: lambda v: m.i_from_v(v, 7.0, 6e-7, 0.1, 20.0, 0.5))
add(
    "pvlib.pvsystem",
    "singlediode: current at the maximum",
    7.0,
    lambda m: lambda i: m.singlediode(i, 6e-7, 0.1, 20.0, 0.5, method="newton")["p_mp"],
    rtol=1e-5,
)

# ---- others ----------------------------------------------------------------------------------------------------------

add("abel.tools.transform_pairs", "profile4", [0.2, 0.5, 0.8], lambda m: lambda r: m.profile4(r)[0])
add(
    "abel.hansenlaw",
    "hansenlaw_transform",
    np.exp(-(GRID**2)),
    lambda m: lambda x: m.hansenlaw_transform(x, direction="forward"),
)
add(
    "bayes_opt.acquisition",
    "UpperConfidenceBound.base_acq",
    NEAR,
    lambda m: lambda s: m.UpperConfidenceBound(kappa=2.0).base_acq(TARGETS, s),
)


@row("bayes_opt.acquisition", "ExpectedImprovement.base_acq", NEAR)
def _(acquisition: Any) -> Function:
    model = acquisition.ExpectedImprovement(xi=0.1)
    model.y_max = 2.0
    return lambda mean: model.base_acq(mean, TARGETS)


@row("emcee", "EnsembleSampler.compute_log_prob", POINTS)
def _(emcee: Any) -> Function:
    sampler = emcee.EnsembleSampler(4, 2, lambda p: -0.5 * np.sum(p**2) - np.log(np.cosh(p[0] * p[1])))
    return lambda x: sampler.compute_log_prob(x)[0]


add("emcee.autocorr", "function_1d", NOISE, lambda m: m.function_1d)


@row("sympy", "lambdify, NumPy", GRID)
def _(sympy: Any) -> Function:
    x = sympy.Symbol("x")
    return sympy.lambdify(x, sympy.exp(-(x**2)) * sympy.Piecewise((x**3, x > 0.1), (sympy.sin(x), True)), "numpy")


@row("sympy", "lambdify, math", 0.7)
def _(sympy: Any) -> Function:
    x = sympy.Symbol("x")
    return sympy.lambdify(x, sympy.diff(sympy.erf(x) * sympy.atan2(x, 2) * sympy.log(x), x), "math")


@row("sympy", "lambdify, SciPy", 2.7)
def _(sympy: Any) -> Function:
    x = sympy.Symbol("x")
    return sympy.lambdify(x, sympy.besselj(1, x) * sympy.gamma(x), ["scipy", "numpy"])


add(
    "pint",
    "Quantity.to",
    [0.3, 1.2],
    lambda m: lambda x: (m.get_application_registry().Quantity(x, "mile") ** 2).to("m**2").magnitude,
)
add(
    "quantities",
    "Quantity.rescale",
    [0.3, 1.2],
    lambda m: lambda x: (m.Quantity(x, "mile") ** 2).rescale("m**2").magnitude,
    "stops: Quantity",
)
add(
    "uncertainties.umath",
    "sin",
    0.7,
    lambda m: lambda x: (m.sin(importlib.import_module("uncertainties").ufloat(x, 0.1)) ** 2).std_dev,
)
add(
    "pandas",
    "Series.pct_change",
    NEAR,
    lambda pd: lambda x: pd.Series(x).pct_change().iloc[1:].to_numpy(),
    "stops: managers",
)
add(
    "pandas",
    "Series.rolling",
    NEAR,
    lambda pd: lambda x: pd.Series(x).rolling(2).mean().iloc[1:].to_numpy(),
    "stops: rolling",
)

# What NumPy's methods, classes held in variables, masked arrays, writes into arrays made before, and state stop.
STOPS = {
    "statsmodels: OrderedModel.loglike": "a.dot(x)",
    "sklearn: StandardScaler.fit_transform": "np.subtract(..., out=)",
    "filterpy: KalmanFilter.log_likelihood of the noise": "np.multiply(..., out=)",
    "pykalman: KalmanFilter.loglikelihood of the observations": "ma.atleast_2d",
    "pykalman: KalmanFilter.smooth of the noise": "_filter_correct",
    "pykalman: AdditiveUnscentedKalmanFilter.filter": "ma.atleast_2d",
    "arch: ARX.resids": "a.dot(x)",
    "colour: XYZ_to_Lab": "as_float",
    "colour: XYZ_to_sRGB": "as_float",
    "colour: XYZ_to_Oklab": "as_float",
    "colour: delta_E, CIE 2000": "as_float",
    "colour: planck_law": "as_float",
    "uncertainties: sin": "__pow__",
    "pandas: Series.pct_change": "pct_change",
}
KEEPS = ("astropy: Voigt1D",)
for _k, _row in enumerate(ROWS):
    if str(_row) in STOPS:
        ROWS[_k] = replace(_row, expect=f"stops: {STOPS[str(_row)]}")
    elif str(_row) in KEEPS:
        ROWS[_k] = replace(_row, expect="keeps")
