"""The commands of CONTRIBUTING.md, each in an environment of its own: `nox -l` lists them, `nox -s lint` runs one.

`bash .ci/run` is what a change must pass; these are its parts, and what runs on GitHub beside it.
"""

import nox

nox.options.sessions = ["lint", "types"]
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=["3.10", "3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run all tests that are not slow, or those named: nox -s tests-3.12 -- tests/rules."""
    session.install(".[test]")
    session.run("pytest", *(session.posargs or ["-n", "auto"]))


@nox.session
def lint(session: nox.Session) -> None:
    """Look for what the linters find, and for other than the common format."""
    session.install("cython-lint>=0.22,<0.23", "ruff>=0.17.5,<0.18")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("cython-lint", "hoad")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of the package, and those that users of it see."""
    session.install(".[test]")
    session.run("mypy")


@nox.session
def pyright(session: nox.Session) -> None:
    """Check code of a user by pyright, which downloads Node.js."""
    session.install(".[test]", "pyright")
    session.run("pytest", "-m", "slow or not slow", "tests/quality/test_types.py")


@nox.session
def coverage(session: nox.Session) -> None:
    """Run the quick tests, and fail where they run fewer lines of hoad's Python than pyproject.toml asks for."""
    session.install(".[test]", "coverage>=7.10")
    session.run("coverage", "erase")
    session.run("coverage", "run", "tools/wheels.py", "--test")
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report", "--skip-covered", "--sort=cover")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into build/site; every example on it is run."""
    session.install(".[docs,test]")
    session.run("sphinx-build", "-W", "-j", "auto", "docs", "build/site")


@nox.session
def wheels(session: nox.Session) -> None:
    """Build a wheel for each Python of this machine, and test each."""
    session.run("python", "tools/wheels.py", *session.posargs)
