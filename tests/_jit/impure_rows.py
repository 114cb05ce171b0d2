"""The rows of test_impure: expressions, what changes them, and what they need; as text, to be run."""

from __future__ import annotations

MODULES = """
abc array base64 bisect bz2 calendar cmath codecs collections collections.abc colorsys concurrent.futures configparser
contextvars copy csv ctypes ctypes.util dataclasses datetime dbm.dumb decimal difflib enum filecmp fileinput fnmatch
fractions functools gc getpass glob graphlib gzip hashlib heapq hmac html importlib importlib.metadata
importlib.resources importlib.util inspect io itertools json keyword linecache locale logging lzma math mimetypes mmap
netrc numbers operator os os.path pathlib pickle pkgutil platform plistlib posixpath pprint queue random re reprlib
resource runpy sched secrets select selectors shelve shlex shutil signal socket sqlite3 stat statistics string struct
subprocess sys sysconfig tarfile tempfile textwrap threading time timeit tokenize tomllib traceback tracemalloc types
typing unicodedata uuid urllib.parse urllib.request warnings wave weakref xml.etree.ElementTree zipapp zipfile zlib
zoneinfo scipy.constants scipy.fft scipy.integrate scipy.interpolate scipy.io scipy.io.wavfile scipy.linalg
scipy.ndimage scipy.optimize scipy.signal scipy.sparse scipy.spatial scipy.special scipy.stats scipy.stats.sampling
""".split()

# ---- what can be changed --------------------------------------------------------------------------------------------

WRITE = "open(d + '/t', 'w').write('2.0\\n')"  # of another length than before, and at another time
CHANGED = {
    # NumPy and SciPy
    "np.load(d + '/a.npy')": "np.save(d + '/a.npy', 2.0)",
    "np.load(d + '/a.npz')['a']": "np.savez(d + '/a.npz', a=2.0)",
    "np.load(p / 'b.npy', mmap_mode='r')[0]": "np.save(d + '/b.npy', [2.0])",
    "np.loadtxt(d + '/t')": WRITE,
    "np.genfromtxt(d + '/t')": WRITE,
    "np.recfromcsv(d + '/t') if hasattr(np, 'recfromcsv') else np.genfromtxt(d + '/t', names=None)": WRITE,
    "np.fromregex(d + '/t', r'(\\d.\\d)', [('a', float)])['a'][0]": WRITE,
    "np.fromfile(d + '/raw')[0]": "np.array([2.0]).tofile(d + '/raw')",
    "np.memmap(d + '/raw', float, 'r')[0]": "np.array([2.0]).tofile(d + '/raw')",
    "np.lib.format.open_memmap(d + '/b.npy', 'r')[0]": "np.save(d + '/b.npy', [2.0])",
    "float(np.lib.npyio.DataSource().open(d + '/t').read())": WRITE,
    "np.lib.npyio.DataSource().exists(d + '/new')": "open(d + '/new', 'w').close()",
    "scipy.io.loadmat(d + '/a.mat')['a'][0, 0]": "scipy.io.savemat(d + '/a.mat', {'a': 2.0})",
    "len(scipy.io.whosmat(d + '/a.mat'))": "scipy.io.savemat(d + '/a.mat', {'a': 2.0, 'b': 2.0})",
    "scipy.io.mmread(d + '/a.mtx')[0, 0]": "scipy.io.mmwrite(d + '/a.mtx', np.array([[2.0]]))",
    "scipy.io.wavfile.read(d + '/a.wav')[1][0]": "scipy.io.wavfile.write(d + '/a.wav', 8, np.full(4, 2, np.int16))",
    "scipy.sparse.load_npz(d + '/s.npz').toarray()[0, 0]":
        "scipy.sparse.save_npz(d + '/s.npz', scipy.sparse.csr_matrix([[2.0]]))",
    # pathlib
    "float(p.joinpath('t').read_text())": WRITE,
    "float((p / 't').read_bytes())": WRITE,
    "float((p / 't').open().read())": WRITE,
    "(p / 't').stat().st_size": "open(d + '/t', 'a').write('0')",
    "(p / 't').lstat().st_mtime": "os.utime(d + '/t', (5, 5))",
    "len(list(p.iterdir()))": "open(d + '/new', 'w').close()",
    "len(list(p.glob('*')))": "open(d + '/new', 'w').close()",
    "len(list(p.rglob('*')))": "open(d + '/new', 'w').close()",
    "(p / 'new').exists()": "open(d + '/new', 'w').close()",
    "(p / 'new').is_file()": "open(d + '/new', 'w').close()",
    "(p / 'new').is_dir()": "os.mkdir(d + '/new')",
    "(p / 'new').is_symlink()": "os.symlink(d + '/t', d + '/new')",
    "(p / 'link').samefile(p / 't')": "os.remove(d + '/link'), os.symlink(d + '/other', d + '/link')",
    "len(str((p / 'link').resolve()))": "os.remove(d + '/link'), os.symlink(d, d + '/link')",
    "len(str((p / 'link').readlink()))": "os.remove(d + '/link'), os.symlink(d, d + '/link')",
    "len(str(pathlib.Path.cwd()))": "os.chdir(d + '/sub')",
    "len(str(pathlib.Path('a').absolute()))": "os.chdir(d + '/sub')",
    "len(str(pathlib.Path('~').expanduser()))": "os.environ.update(HOME='/other/one')",
    # os and os.path
    "os.path.exists(d + '/new')": "open(d + '/new', 'w').close()",
    "os.path.lexists(d + '/new')": "open(d + '/new', 'w').close()",
    "os.path.isfile(d + '/new')": "open(d + '/new', 'w').close()",
    "os.path.isdir(d + '/new')": "os.mkdir(d + '/new')",
    "os.path.islink(d + '/new')": "os.symlink(d + '/t', d + '/new')",
    "os.path.ismount(d + '/new') + os.path.exists(d + '/new')": "os.mkdir(d + '/new')",
    "os.path.getmtime(d + '/t')": "os.utime(d + '/t', (5, 5))",
    "os.path.getatime(d + '/t')": "os.utime(d + '/t', (5, 5))",
    "os.path.getsize(d + '/t')": "open(d + '/t', 'a').write('0')",
    "os.path.samefile(d + '/link', d + '/t')": "os.remove(d + '/link'), os.symlink(d + '/other', d + '/link')",
    "len(os.path.realpath(d + '/link'))": "os.remove(d + '/link'), os.symlink(d, d + '/link')",
    "len(os.path.abspath('a'))": "os.chdir(d + '/sub')",
    "len(os.path.relpath(d))": "os.chdir(d + '/sub')",
    "len(os.path.expandvars('$HOAD_ROW'))": "os.environ.update(HOAD_ROW='12')",
    "len(os.path.expanduser('~'))": "os.environ.update(HOME='/other/one')",
    "float(os.environ['HOAD_ROW'])": "os.environ.update(HOAD_ROW='2.0')",
    "float(os.getenv('HOAD_ROW'))": "os.environ.update(HOAD_ROW='2.0')",
    "len(os.getcwd())": "os.chdir(d + '/sub')",
    "len(os.listdir(d))": "open(d + '/new', 'w').close()",
    "len(list(os.scandir(d)))": "open(d + '/new', 'w').close()",
    "len(list(os.walk(d)))": "os.mkdir(d + '/new')",
    "os.stat(d + '/t').st_size": "open(d + '/t', 'a').write('0')",
    "os.access(d + '/new', os.R_OK)": "open(d + '/new', 'w').close()",
    "glob.glob(d + '/*').__len__()": "open(d + '/new', 'w').close()",
    "len(list(glob.iglob('*', root_dir=d)))": "open(d + '/new', 'w').close()",
    "len(list(glob.glob(d + '/new')))": "open(d + '/new', 'w').close()",
    "filecmp.cmp(d + '/t', d + '/copy', shallow=False)": "open(d + '/t', 'a').write('0')",
    "len(filecmp.dircmp(d, d + '/sub').left_only)": "open(d + '/new', 'w').close()",
    "shutil.which('hoad-row', path=d) is None": "open(d + '/hoad-row', 'w').close(), os.chmod(d + '/hoad-row', 0o755)",
    "len(shutil.copy(d + '/t', d + '/c2')) + os.path.getsize(d + '/c2')": "open(d + '/t', 'a').write('0')",
    "shutil.get_terminal_size().columns": "os.environ.update(COLUMNS='7')",
    # what reads files
    "float(open(d + '/t').read())": WRITE,
    "float(io.open(d + '/t').read())": WRITE,
    "float(io.FileIO(d + '/t').read())": WRITE,
    "float(codecs.open(d + '/t').read())": WRITE,
    "float(gzip.open(d + '/t.gz').read())": "with gzip.open(d + '/t.gz', 'w') as t: t.write(b'2.0')",
    "float(bz2.open(d + '/t.bz2').read())": "bz2.open(d + '/t.bz2', 'w').write(b'2.0')",
    "float(lzma.open(d + '/t.xz').read())": "lzma.open(d + '/t.xz', 'w').write(b'2.0')",
    "float(zipfile.ZipFile(d + '/t.zip').read('t'))": "zipfile.ZipFile(d + '/t.zip', 'w').writestr('t', '2.0')",
    "zipfile.is_zipfile(d + '/t.zip')": WRITE.replace("/t'", "/t.zip'"),
    "float(zipfile.Path(d + '/t.zip', 't').read_text())": "zipfile.ZipFile(d + '/t.zip', 'w').writestr('t', '2.0')",
    "len(tarfile.open(d + '/t.tar').getnames())": "tarfile.open(d + '/t.tar', 'w').close()",
    "float(next(fileinput.FileInput([d + '/t'])))": WRITE,
    "float(linecache.getline(d + '/t', 1))": WRITE + ", linecache.clearcache()",
    "float(linecache.getlines(d + '/t')[0])": WRITE + ", linecache.clearcache()",
    "json.load(open(d + '/t'))": WRITE,
    "json.loads(p.joinpath('t').read_text())": WRITE,
    "pickle.load((p / 'pickle').open('rb'))": "(p / 'pickle').write_bytes(pickle.dumps(2.0))",
    "float(next(csv.reader(p.joinpath('t').open()))[0])": WRITE,
    "tomllib.loads(p.joinpath('toml').read_text())['a']": "p.joinpath('toml').write_text('a = 2.0')",
    "plistlib.load(p.joinpath('plist').open('rb'))['a']":
        "p.joinpath('plist').write_bytes(plistlib.dumps({'a': 2.0}))",
    "float(xml.etree.ElementTree.parse(d + '/xml').getroot().text)": "p.joinpath('xml').write_text('<a>2.0</a>')",
    "read_ini()": "p.joinpath('ini').write_text('[a]\\nb = 2.0')",
    "wave.open(d + '/a.wav').getnframes()": "scipy.io.wavfile.write(d + '/a.wav', 8, np.full(5, 2, np.int16))",
    "len(netrc.netrc(d + '/netrc').hosts)": "p.joinpath('netrc').write_text('machine a login b password c')",
    "float(shelve.open(d + '/shelf', 'r')['a'])": "put_on_shelf()",
    "float(dbm.dumb.open(d + '/dumb', 'r')['a'])": "put_in_dumb()",
    "ask_sqlite()": "sqlite_is(2.0)",
    "connection.execute('select a from t').fetchone()[0]": "sqlite_is(2.0)",
    "hashlib.md5(p.joinpath('t').read_bytes()).digest()[0]": WRITE,
    "mapped[0]": "mapped.__setitem__(0, 7)",
    "read_mapped()": WRITE,
    "float(urllib.request.urlopen('file://' + d + '/t').read())": WRITE,
    "float(pkgutil.get_data('hoad_row_package', 't'))": WRITE.replace("/t'", "/hoad_row_package/t'"),
    "float(importlib.resources.files('hoad_row_package').joinpath('t').read_text())":
        WRITE.replace("/t'", "/hoad_row_package/t'"),
    "runpy.run_path(d + '/script')['a']": "p.joinpath('script').write_text('a = 2.0')",
    "tokenize.open(d + '/t').read().__len__()": "open(d + '/t', 'a').write('0')",
    "float(subprocess.run(['cat', d + '/t'], capture_output=True).stdout)": WRITE,
    "float(subprocess.check_output(['cat', d + '/t']))": WRITE,
    "float(read_to_end(os.popen('cat ' + d + '/t')))": WRITE,
    "float(tempfile_is_at())": "tempfile_as(2.0)",
    "wait_for(pair)": "pair[1].send(b'a')",
    "len(select.select([pair[0]], [], [], 0)[0])": "pair[1].send(b'a')",
    "with_selector(pair[0])": "pair[1].send(b'a')",
    # modules, classes, functions
    "importlib.import_module('hoad_row_module').a": "set_module(2.0)",
    "pkgutil.resolve_name('hoad_row_module:a')": "set_module(2.0)",
    "importlib.util.find_spec('hoad_row_new') is None":
        "p.joinpath('hoad_row_new.py').write_text(''), forget_finders()",
    "sys.modules['hoad_row_module'].a": "set_module(2.0)",
    "len(C.__subclasses__())": "subclass()",
    "callable(c)": "setattr(C, '__call__', lambda self: 1.0)",
    "(1.0 if c else 2.0)": "setattr(C, '__bool__', lambda self: False)",
    "(1.0 if not c else 2.0)": "setattr(C, '__len__', lambda self: 0)",
    "(1.0 if c == 3.0 else 2.0)": "setattr(C, '__eq__', lambda self, other: True)",
    "(1.0 if c in [3.0] else 2.0)": "setattr(C, '__eq__', lambda self, other: True)",
    "hash(c) % 1024": "setattr(C, '__hash__', lambda self: 1025)",
    "c.a": "setattr(C, '__getattribute__', lambda self, name: 5.0)",
    "len(g.__name__)": "setattr(g, '__name__', 'longer')",
    "len(g.__qualname__)": "setattr(g, '__qualname__', 'longer')",
    "len(g.__doc__ or '')": "setattr(g, '__doc__', 'longer')",
    "len(g.__module__)": "setattr(g, '__module__', 'longer')",
    "len(g.__annotations__)": "g.__annotations__.update(a=1)",
    "len(getattr(g, '__name__'))": "setattr(g, '__name__', 'longer')",
    "len(C.__name__)": "setattr(C, '__name__', 'longer')",
    "len(C.__qualname__)": "setattr(C, '__qualname__', 'longer')",
    "len(C.__doc__ or '')": "setattr(C, '__doc__', 'longer')",
    "len(C.__annotations__)": "C.__annotations__.update(a=1)",
    "len(type(c).__name__)": "setattr(C, '__name__', 'longer')",
    "len(C.__mro__)": "rebase()",
    "g.__defaults__[0]": "setattr(g, '__defaults__', (2.0,))",
    "len(g.__code__.co_name)": "setattr(g, '__code__', (lambda a=1.0: a).__code__)",
    "w.flags.writeable + 1": "w.setflags(write=False)",
    "w.flags['C_CONTIGUOUS'] + 1": "w.__setattr__('strides', (8, 8))",
    "getattr(w, 'flags').writeable + 1": "w.setflags(write=False)",
    "w.strides[0]": "w.__setattr__('strides', (8, 8))",
    "cached(1.0)": "cache_is(2.0)",
    "cached_without_bound(1.0)": "cache_is(2.0)",
    "cached_box(1.0)[0]": "cached_box(1.0).__setitem__(0, 2.0)",
    "cached_box_without_bound(1.0)[0]": "cached_box_without_bound(1.0).__setitem__(0, 2.0)",
    "cached.cache_info().misses + 1": "cached(np.random.rand())",
    "operator.methodcaller('__getitem__', 0)(box)": "box.__setitem__(0, 2.0)",
    # Python's and C's state
    "number.value": "setattr(number, 'value', 2.0)",
    "numbers_of_c[0]": "numbers_of_c.__setitem__(0, 2.0)",
    "ctypes.c_double.from_buffer(box_of_c).value": "setattr(box_of_c, 'value', 2.0)",
    "pointer.contents.value": "setattr(number, 'value', 2.0)",
    "structure.a": "setattr(structure, 'a', 2.0)",
    "sys.getrecursionlimit()": "sys.setrecursionlimit(sys.getrecursionlimit() + 17)",
    "sys.getswitchinterval()": "sys.setswitchinterval(0.25)",
    "gc.isenabled() + 1": "gc.disable()",
    "decimal.getcontext().prec": "setattr(decimal.getcontext(), 'prec', 9)",
    "variable.get()": "variable.set(2.0)",
    "contextvars.copy_context()[variable]": "variable.set(2.0)",
    "len(locale.setlocale(locale.LC_NUMERIC))": "locale.setlocale(locale.LC_NUMERIC, 'C.UTF-8')",
    "resource.getrlimit(resource.RLIMIT_NOFILE)[0]": "lower_limit()",
    "signal.getsignal(signal.SIGUSR1) is None or signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL":
        "signal.signal(signal.SIGUSR1, signal.SIG_IGN)",
    "threading.active_count()": "start_thread()",
    "len(threading.enumerate())": "start_thread()",
    "len(mimetypes.guess_type('a.hoadrow')[0] or '')":
        "mimetypes.add_type((mimetypes.guess_type('a.hoadrow')[0] or 'a/') + 'b', '.hoadrow')",
    "weakref.getweakrefcount(c) + 1": "keep(weakref.ref(c, print))",
    "time.localtime(0).tm_hour + 1": "set_zone()",
    "datetime.datetime.fromtimestamp(0).hour + 1": "set_zone()",
    "datetime.datetime(2000, 1, 1).timestamp()": "set_zone()",
    "os.getpriority(os.PRIO_PROCESS, 0) + 30": "os.nice(1) if os.getpriority(os.PRIO_PROCESS, 0) < 10 else None",
}  # fmt: skip
SETUP_OF_FILES = """
p.joinpath('t').write_text('1.0\\n'), p.joinpath('copy').write_text('1.0\\n'), p.joinpath('other').write_text('')
np.save(d + '/a.npy', 1.0), np.save(d + '/b.npy', [1.0]), np.savez(d + '/a.npz', a=1.0)
np.array([1.0]).tofile(d + '/raw')
scipy.io.savemat(d + '/a.mat', {'a': 1.0}), scipy.io.mmwrite(d + '/a.mtx', np.array([[1.0]]))
scipy.io.wavfile.write(d + '/a.wav', 8, np.ones(4, np.int16))
scipy.sparse.save_npz(d + '/s.npz', scipy.sparse.csr_matrix([[1.0]]))
os.mkdir(d + '/sub'), os.symlink('t', d + '/link')
for opened in (gzip.open(d + '/t.gz', 'w'), bz2.open(d + '/t.bz2', 'w'), lzma.open(d + '/t.xz', 'w')):
    opened.write(b'1.0'), opened.close()
with zipfile.ZipFile(d + '/t.zip', 'w') as z: z.writestr('t', '1.0')
with tarfile.open(d + '/t.tar', 'w') as z: z.add(d + '/t')
p.joinpath('pickle').write_bytes(pickle.dumps(1.0)), p.joinpath('toml').write_text('a = 1.0')
p.joinpath('plist').write_bytes(plistlib.dumps({'a': 1.0})), p.joinpath('xml').write_text('<a>1.0</a>')
p.joinpath('ini').write_text('[a]\\nb = 1.0'), p.joinpath('netrc').write_text('')
p.joinpath('script').write_text('a = 1')
def put_on_shelf(a=2.0):
    with shelve.Shelf(dbm.dumb.open(d + '/shelf', 'c')) as s: s['a'] = a
def put_in_dumb(a='2.0'):
    with dbm.dumb.open(d + '/dumb', 'c') as s: s['a'] = a
put_on_shelf(1.0), put_in_dumb('1.0')
connection = sqlite3.connect(d + '/sqlite')
connection.execute('create table t (a real)'), connection.execute('insert into t values (1.0)'), connection.commit()
connection.close()
os.mkdir(d + '/hoad_row_package')
p.joinpath('hoad_row_package', '__init__.py').write_text(''), p.joinpath('hoad_row_package', 't').write_text('1.0')
"""
SETUP = """
import sys, contextlib
class Base: pass
class C(Base):
    a = 1.0
    def __init__(self): pass
C.__annotations__ = {}
c = C()
def g(a=1.0): return a
g.__annotations__ = {}
w = np.ones((2, 3))
box = [1.0]
state = {'a': 1.0}
kept = []
keep = kept.append
@functools.lru_cache(8)
def cached(k): return state['a'] * k
@functools.lru_cache(None)
def cached_without_bound(k): return state['a'] * k
@functools.lru_cache(8)
def cached_box(k): return [k]
@functools.lru_cache(None)
def cached_box_without_bound(k): return np.array([k])
def cache_is(a):
    state['a'] = a
    cached.cache_clear(), cached_without_bound.cache_clear()
number = ctypes.c_double(1.0)
box_of_c = ctypes.c_double(1.0)
pointer = ctypes.pointer(number)
numbers_of_c = (ctypes.c_double * 2)(1.0, 1.0)
class Structure(ctypes.Structure): _fields_ = [('a', ctypes.c_double)]
structure = Structure(1.0)
variable = contextvars.ContextVar('variable')
variable.set(1.0)
line = queue.SimpleQueue()
for k in range(9): line.put(1.0)
def read_to_end(stream):
    with stream: return stream.read()
def read_ini():
    found = configparser.ConfigParser()
    found.read(d + '/ini')
    return float(found['a']['b'])
def put_on_shelf(a=2.0):
    with shelve.Shelf(dbm.dumb.open(d + '/shelf', 'c')) as s: s['a'] = a
def put_in_dumb(a='2.0'):
    with dbm.dumb.open(d + '/dumb', 'c') as s: s['a'] = a
connection = sqlite3.connect(d + '/sqlite')
def ask_sqlite():
    with contextlib.closing(sqlite3.connect(d + '/sqlite')) as con: return con.execute('select a from t').fetchone()[0]
def sqlite_is(a): connection.execute('update t set a = ?', (a,)), connection.commit()
mapped = mmap.mmap(-1, 8)
mapped[0] = 1
def read_mapped():
    with open(d + '/t', 'rb') as t, mmap.mmap(t.fileno(), 0, access=mmap.ACCESS_READ) as m: return float(m[:3])
hoad_row_module = types.ModuleType('hoad_row_module')
hoad_row_module.a = 1.0
sys.modules['hoad_row_module'] = hoad_row_module
def set_module(a): hoad_row_module.a = a
def forget_finders(): importlib.invalidate_caches(), sys.path_importer_cache.clear()
def tempfile_is_at():
    with tempfile.TemporaryFile(dir=d) as t: t.write(str(state['a']).encode()), t.seek(0); return t.read()
def tempfile_as(a): state['a'] = a
pair = socket.socketpair()
def wait_for(pair):
    pair[0].setblocking(False)
    try: return len(pair[0].recv(1, socket.MSG_PEEK))
    except BlockingIOError: return 0.0
def with_selector(s):
    with selectors.DefaultSelector() as found:
        found.register(s, selectors.EVENT_READ)
        return len(found.select(0))
def subclass():
    class D(C): pass
    keep(D)
def rebase():
    class E(Base): pass
    C.__bases__ = (E,)
done = threading.Event()
def start_thread():
    t = threading.Thread(target=done.wait, daemon=True)
    t.start()
def set_zone(): os.environ.update(TZ='UTC-5'), time.tzset()
def lower_limit():
    low, high = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (low - 1, high))
"""

# ---- what changes by itself -----------------------------------------------------------------------------------------

REFUSED = """
time.time() time.time_ns() time.monotonic() time.perf_counter() time.process_time() time.thread_time()
time.gmtime().tm_sec time.localtime().tm_sec len(time.ctime()) len(time.strftime('%c')) timeit.default_timer()
timeit.timeit(int,number=1) getattr(time,'time')() getattr(time,"perf_"+"counter")() vars(time)['time']()
operator.methodcaller('perf_counter')(time) operator.attrgetter('time')(time)() next(iter(getattr(time,'time'),None))
sum(map(lambda_time,[1])) functools.partial(time.time)() sched.scheduler().timefunc() clock() scheduled()
datetime.datetime.now().microsecond datetime.datetime.today().microsecond datetime.date.today().day
datetime.datetime.now(datetime.timezone.utc).microsecond getattr(datetime.datetime,'now')().microsecond
len(calendar.month(datetime.date.today().year,1)) resource.getrusage(resource.RUSAGE_SELF).ru_utime os.times().user
os.getloadavg()[0] os.getpid() os.getppid() os.urandom(1)[0] os.getrandom(1)[0] os.cpu_count() len(os.uname())
os.sched_getaffinity(0).__len__() random.random() random.uniform(0,1) random.randint(0,9) random.choice([1.0])
random.gauss(0,1) random.betavariate(1,1) random.sample([1.0],1)[0] random.Random().random()
random.SystemRandom().random() random.getrandbits(4) shuffled() getattr(random,'random')()
operator.methodcaller('random')(random) secrets.randbelow(9) secrets.token_bytes(1)[0] secrets.choice([1.0])
len(secrets.token_hex()) uuid.uuid4().int%9 uuid.uuid1().int%9 uuid.getnode()%9
np.random.bytes(1)[0]
np.random.get_state()[2] np.random.RandomState().rand()
np.random.default_rng().random() np.random.default_rng().normal() np.random.SeedSequence().entropy%9
np.random.Generator(np.random.PCG64()).random()
operator.methodcaller('rand')(np.random) scipy.stats.norm.rvs() scipy.stats.uniform.rvs() scipy.stats.poisson.rvs(3)
scipy.stats.gamma(2.0).rvs() scipy.stats.norm().rvs(size=2)[0] scipy.stats.expon.rvs(scale=2.0)
scipy.stats.beta.rvs(1,2) scipy.stats.t.rvs(3) scipy.stats.multivariate_normal.rvs([0.0,0.0])[0]
scipy.stats.dirichlet.rvs([1.0,2.0])[0,0] frozen.rvs() scipy.stats.ortho_group.rvs(2)[0,0]
scipy.stats.special_ortho_group.rvs(2)[0,0] scipy.stats.unitary_group.rvs(2)[0,0].real
scipy.stats.wishart.rvs(2,[[1.0]]) scipy.stats.random_correlation.rvs([.5,1.5])[0,1]
scipy.stats.rv_histogram(bars).rvs() scipy.stats.multinomial.rvs(3,[.5,.5])[0]
scipy.stats.vonmises_fisher([1.0,0.0],1.0).rvs(1)[0,0] kde.resample(1)[0,0] scipy.stats.qmc.Sobol(2).random(2)[0,0]
scipy.stats.qmc.Halton(2).random(2)[0,0] engine.random(2)[0,0] scipy.stats.qmc.LatinHypercube(2).random(2)[0,0]
scipy.stats.qmc.PoissonDisk(2,radius=.4).random(1)[0,0] scipy.stats.qmc.MultinomialQMC([.5,.5],4).random()[0]
scipy.stats.qmc.MultivariateNormalQMC([0.0]).random()[0,0]
scipy.stats.bootstrap((data,),np.mean,n_resamples=9).standard_error
scipy.stats.permutation_test((data,data[:2]),difference,n_resamples=3).pvalue
scipy.stats.monte_carlo_test(data,scipy.stats.norm.rvs,np.mean,n_resamples=3).pvalue
scipy.stats.sampling.TransformedDensityRejection(Normal()).rvs() scipy.sparse.random(3,3,density=.5).toarray()[0,0]
scipy.sparse.random_array((3,3),density=.5).toarray()[0,0] scipy.sparse.rand(3,3,density=.5).toarray()[0,0]
scipy.optimize.differential_evolution(square,[(-1,2)],maxiter=1,polish=False).x[0]
scipy.optimize.dual_annealing(square,[(-1,2)],maxiter=1).x[0] scipy.optimize.basinhopping(square,[1.0],niter=1).nfev
scipy.linalg.interpolative.estimate_rank(np.eye(3),.1) scipy.linalg.clarkson_woodruff_transform(np.eye(3),2)[0,0]
shutil.disk_usage(d).free os.statvfs(d).f_bfree len(socket.gethostname()) socket.socket().fileno()
len(platform.node()) len(platform.platform()) len(getpass.getuser()) len(tempfile.mkdtemp(dir=d))
len(tempfile.gettempdir()) os.dup(1) len(tempfile.NamedTemporaryFile(dir=d).name) threading.get_ident()%9
threading.get_native_id()%9 os.getuid()+1 len(threading.current_thread().name) sys.getrefcount(g) gc.get_count()[0]
len(gc.get_objects())%9 tracemalloc.get_traced_memory()[0] line.get_nowait() line.qsize() next(iterator) in_threads()
in_a_thread() len(sys._current_frames()) len(locale.getlocale()) len(locale.localeconv())
len(locale.format_string('%f',1.0)) len(os.path.expanduser('~nobody')) len(sysconfig.get_paths())
len(importlib.metadata.version('numpy')) hashed_file()
""".split()
SETUP_OF_REFUSED = """
lambda_time = lambda _: getattr(time, 'time')()
def clock():
    from time import perf_counter
    return perf_counter()
def scheduled():
    s, seen = sched.scheduler(), []
    s.enter(0, 1, seen.append, (1.0,))
    s.run()
    return seen[0]
def shuffled():
    x = [1.0, 2.0, 3.0]
    random.shuffle(x)
    return x[0]
generator, legacy = np.random.default_rng(1), np.random.RandomState(1)
frozen, engine = scipy.stats.norm(), scipy.stats.qmc.Halton(2)
data = np.arange(9.0)
bars = np.histogram(data)
kde = scipy.stats.gaussian_kde(data)
def difference(x, y, axis=-1): return np.mean(x, axis) - np.mean(y, axis)
def square(x): return float(np.sum(np.asarray(x) ** 2))
class Normal:
    def pdf(self, x): return np.exp(-x * x / 2)
    def dpdf(self, x): return -x * np.exp(-x * x / 2)
iterator = itertools.count()
def in_threads():
    with concurrent.futures.ThreadPoolExecutor(1) as pool: return pool.submit(float).result()
def in_a_thread():
    found = []
    t = threading.Thread(target=found.append, args=(1.0,))
    t.start(), t.join()
    return found[0]
def hashed_file():
    with open(d + '/t', 'rb') as t: return hashlib.md5(t.read()).digest()[0]
"""

# ---- what does not change -------------------------------------------------------------------------------------------

PURE = """
np.sum([1.0,2.0]) np.linalg.inv(np.eye(2))[0,0] np.linspace(0,1,5)[1] np.polyfit([0.0,1.0],[0.0,1.0],1)[0]
np.fft.fft(a)[0].real np.einsum('i,i',a,a) np.array2string(a).__len__() len(str(a)) len(repr(np.float64(1.0)))
np.histogram(a)[0][0] np.interp(.5,[0,1],[1,2]) np.sort(a)[0] np.unique(a)[0] np.median(a) np.percentile(a,50)
np.cov(a) np.outer(a,a)[0,0] np.kron(a,a)[0] np.meshgrid(a,a)[0][0,0] np.loadtxt(io.StringIO('1.0'))
np.genfromtxt(io.StringIO('1.0')) np.load(io.BytesIO(saved)) np.polynomial.Polynomial([1,2])(3.0)
np.polynomial.legendre.leggauss(5)[0][0] np.vander(a)[0,0] np.datetime64('2000-01-01').astype(int) np.finfo(float).eps
np.vectorize(math.sin)(1.0) np.apply_along_axis(np.sum,0,a) with_errstate() np.testing.assert_allclose(a,a)or(1.0)
np.piecewise(a,[a<1],[0,1])[0] math.sin(1.0) math.gamma(2.5) math.fsum([1.0]) math.comb(5,2) cmath.exp(1).real
operator.add(1.0,2.0) operator.itemgetter(0)([1.0]) sum(itertools.accumulate([1.0,2.0]))
len(list(itertools.product([1],[2]))) next(itertools.chain([1.0],[2.0])) functools.reduce(operator.mul,[1.0,2.0])
functools.partial(math.pow,2.0)(3.0) cached_square(3.0) cached_array(3.0)[0] sum(map(math.sin,[1.0]))
max([1.0,2.0],key=math.sin) sorted([2.0,1.0],key=abs)[0] len(list(zip([1],[2]))) collections.Counter('aab')['a']
collections.OrderedDict(a=1.0)['a'] collections.ChainMap({'a':1.0})['a'] collections.deque([1.0])[0]
dataclasses.replace(point,a=3.0).a point.a len(repr(point)) dataclasses.asdict(point)['a']
len(json.dumps({'a':[1.0]})) json.loads('1.5') float(re.match(r'(.*)x','1.5x').group(1)) len(re.sub('a','b','aaa'))
re.compile('a+').match('aa').end() struct.unpack('d',struct.pack('d',1.0))[0] pickle.loads(pickle.dumps(1.0))
copy.deepcopy([1.0])[0] copy.copy([1.0])[0] hashlib.md5(b'a').digest()[0] zlib.crc32(b'a') base64.b64decode('YWE=')[0]
len(zlib.compress(b'a')) gzip.decompress(gz)[0] float(decimal.Decimal('1.5')) float(fractions.Fraction(1,3))
statistics.mean([1.0,2.0]) statistics.stdev([1.0,2.0]) heapq.nsmallest(1,[2.0,1.0])[0] bisect.bisect([1.0,2.0],1.5)
string.Template('$a').substitute(a=1).__len__() textwrap.fill('ab',3).__len__() enum.IntEnum('E','A').A
float(io.StringIO('1.5').read()) len(io.BytesIO(b'ab').getvalue()) io.StringIO('ab').readlines().__len__()
int(next(csv.reader(['1','2']))[0]) len(os.path.join('a','b')) os.path.basename('/a/b').__len__()
os.path.splitext('a.b')[1].__len__() len(os.path.normpath('a/../b')) len(posixpath.join('a','b'))
len(str(pathlib.PurePath('a')/'b')) pathlib.PurePath('a/b.c').suffix.__len__() fnmatch.fnmatch('a','*')
len(urllib.parse.quote('ab')) len(os.fspath('a')) colorsys.rgb_to_hsv(.1,.2,.3)[0]
datetime.datetime(2000,1,1).toordinal() datetime.date(2000,1,1).weekday()
(datetime.datetime(2001,1,1)-datetime.datetime(2000,1,1)).days calendar.monthrange(2000,1)[1] calendar.isleap(2000)
uuid.UUID(int=5).int len(unicodedata.name('a')) len(inspect.signature(math.sin).parameters) len(inspect.getmro(int))
types.SimpleNamespace(a=1.0).a typing.cast(float,1.0) isinstance(1.0,numbers.Real)
isinstance([],collections.abc.Sequence) float(xml.etree.ElementTree.fromstring('<a>1.0</a>').text)
float(plistlib.loads(listed)['a']) len(html.escape('<')) float(zipfile.ZipFile(io.BytesIO(zipped)).read('t'))
len(pprint.pformat([1])) array.array('d',[1.0])[0] len(difflib.ndiff(['a'],['b']).__class__.__name__)
scipy.special.gamma(2.5) scipy.special.jv(1,2.0) scipy.special.roots_legendre(4)[0][0] scipy.special.comb(5,2)
scipy.special.logsumexp(a) scipy.linalg.inv(np.eye(2))[0,0] scipy.linalg.expm(np.eye(2))[0,0]
scipy.linalg.eigh(np.eye(2))[0][0] scipy.linalg.lu(np.eye(2))[2][0,0] scipy.linalg.qr(np.eye(2))[0][0,0]
scipy.linalg.svd(np.eye(2))[1][0] scipy.linalg.solve(np.eye(2),[1.0,2.0])[0] scipy.linalg.toeplitz(a)[0,0]
scipy.linalg.cholesky(np.eye(2))[0,0] scipy.linalg.norm(a) scipy.linalg.hilbert(3)[0,0] scipy.fft.fft(a)[0].real
scipy.integrate.quad(math.sin,0,1)[0] scipy.integrate.simpson(a) scipy.interpolate.CubicSpline(a,a)(.5)
scipy.interpolate.interp1d(a,a)(.5) scipy.optimize.brentq(math.cos,1,2) scipy.optimize.minimize(square,[1.0]).x[0]
scipy.optimize.least_squares(square,[1.0]).x[0] scipy.stats.norm.pdf(.5) scipy.stats.norm.ppf(.5)
scipy.stats.t.cdf(.5,3) scipy.stats.norm(1.0).logpdf(.5) scipy.stats.ttest_1samp(a,0.0).pvalue
scipy.stats.linregress(a,a).slope scipy.stats.gaussian_kde(b)(.5)[0] scipy.stats.norm.rvs(random_state=3)
scipy.stats.bootstrap((b,),np.mean,n_resamples=9,random_state=3).standard_error
scipy.sparse.random(3,3,density=.5,random_state=3).toarray()[0,0] scipy.sparse.eye(3).toarray()[0,0]
scipy.optimize.differential_evolution(square,[(-1,2)],maxiter=1,polish=False,seed=3).x[0]
scipy.stats.qmc.Halton(2,seed=3).random(2)[0,0] scipy.sparse.linalg.spsolve(scipy.sparse.eye(2,format='csc'),a[:2])[0]
scipy.spatial.distance.pdist([[0.0],[1.0]])[0] scipy.spatial.ConvexHull([[0,0],[0,1],[1,0]]).volume
scipy.signal.butter(2,.5)[0][0] scipy.ndimage.gaussian_filter(a,1)[0] scipy.constants.c logs() tells() warned()
printed()
""".split()
SETUP_OF_PURE = """
import scipy.sparse.linalg, scipy.spatial.distance
a, b = np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.0, 1.0, 2.0, 4.0, 8.0])
keep = io.BytesIO()
np.save(keep, 1.0)
saved, gz, listed = keep.getvalue(), gzip.compress(b'a'), plistlib.dumps({'a': '1.0'})
keep = io.BytesIO()
with zipfile.ZipFile(keep, 'w') as z: z.writestr('t', '1.0')
zipped = keep.getvalue()
del keep, z
@dataclasses.dataclass
class Point:
    a: float = 1.0
point = Point()
@functools.lru_cache
def cached_square(k): return k * k
@functools.lru_cache(maxsize=None)
def cached_array(k): return np.array([k])
def with_errstate():
    with np.errstate(all='ignore'): return np.log(0.5)
def square(x): return float(np.sum(np.asarray(x) ** 2))
logger = logging.getLogger('hoad.row')
def logs():
    logging.getLogger('hoad.row').info('at')
    return 1.0
def tells():
    logging.getLogger('hoad.row').warning('at')
    return 1.0
def warned():
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        warnings.warn('at')
    return 1.0
def printed():
    print('at')
    return 1.0
"""
