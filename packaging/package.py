#!/usr/bin/env python3
"""Makes dist/ from what is built: package.py BUILD DIST [NATIVE]

.deb of ws and of ws-mock, tarball, wheel, npm package and OCI image of the mock, SHA256SUMS, SPDX document. The same
sources give the same bytes, wherever and whenever: times are those of the commit, lists are sorted, owners are root.

What BUILD holds may be for another processor. Its packages are then added to those in DIST, and NATIVE is the build of the
same sources whose programs run here: man pages and completions come from these.
"""
import base64
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import zipfile
from datetime import datetime, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent
sys.path.insert(0, str(HERE))
import documents  # noqa: E402
import inventory  # noqa: E402
import portable  # noqa: E402

MAINTAINER = "ws maintainers <ws@packages.example.org>"
HOMEPAGE = "https://example.org/ws"
# By the processor's number in an ELF file: dpkg's name of it, the kernel's, Node's, the image format's.
PROCESSORS = {62: ("amd64", "x86_64", "x64", "amd64"), 183: ("arm64", "aarch64", "arm64", "arm64")}

UNITS = {"ws": ["ws-sync@.service", "ws-events@.service"], "ws-mock": ["ws-mock.service"]}
# Opened at run time, so no ELF file names them.
OPENED = {"ws": {"Depends": ["libcurl4", "ca-certificates"], "Recommends": ["libjq1", "libsecret-1-0"],
                 "Suggests": ["libqrencode4", "ws-mock"]},
          "ws-mock": {"Suggests": ["ws"]}}
DESCRIPTIONS = {
    "ws": ("sync a folder of Markdown with a Workspace service",
           "ws keeps a folder of Markdown files in sync with a Workspace service: it merges what merges cleanly, keeps both "
           "texts of what does not, and undoes a whole run on both sides. Every operation of the service is a command, "
           "with stable JSON and exit codes for scripts."),
    "ws-mock": ("whole Workspace service in one binary, for tests",
                "ws-mock serves the API of a Workspace service with state, fixtures, faults and a clock of its own. It starts "
                "in milliseconds, runs a command against itself, and can try every fault of every request that the command "
                "makes."),
}


def epoch():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    out = subprocess.run(["git", "-C", str(SOURCE), "log", "-1", "--format=%ct"], check=True, capture_output=True, text=True).stdout
    return int(out)


def write(path, data, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    path.chmod(mode)


def gzipped(data):
    return gzip.compress(data if isinstance(data, bytes) else data.encode(), 9, mtime=0)


def processor_of(program):
    with open(program, "rb") as data:
        return PROCESSORS[int.from_bytes(data.read(20)[18:], "little")]


def stripped(program, folder):
    out, machine = folder / Path(program).name, processor_of(program)[1]
    tool = "strip" if machine == os.uname().machine else f"{machine}-linux-gnu-strip"
    subprocess.run([tool, "--strip-all", "--remove-section=.comment", "-o", out, program], check=True)
    return out.read_bytes()


def tar_of(root, names, when, prefix=""):
    """A tar of the files and folders below root, in order, owned by root."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in names:
            info = tar.gettarinfo(str(root / name), prefix + name)
            info.uid = info.gid = 0
            info.uname = info.gname = "root"
            info.mtime = when
            info.mode = 0o755 if info.isdir() or os.access(root / name, os.X_OK) else 0o644
            if info.isfile():
                with open(root / name, "rb") as data:
                    tar.addfile(info, data)
            else:
                tar.addfile(info)
    return out.getvalue()


def below(root):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


class Packaging:
    def __init__(self, build, dist, native):
        self.bin, self.dist = Path(build) / "bin", Path(dist)
        self.native = Path(native) / "bin"
        self.when = epoch()
        os.environ["SOURCE_DATE_EPOCH"] = str(self.when)
        os.environ["WS_DATE"] = datetime.fromtimestamp(self.when, timezone.utc).strftime("%Y-%m-%d")
        self.programs = documents.Programs(self.native)
        self.version = self.programs.version
        self.processor, self.machine, self.node_cpu, self.image_cpu = processor_of(self.bin / "ws")
        self.work = Path(tempfile.mkdtemp(prefix="ws-package."))
        self.stripped = {name: stripped(self.bin / name, self.work) for name in ("ws", "ws-mock", "ws-mock-static")}
        self.pages = self.work / "man"
        documents.write_man(self.programs, self.pages)
        self.licenses = inventory.licenses()

    def completions(self, name):
        if name == "ws":
            made = {shell: subprocess.run([self.native / "ws", "completion", shell], check=True, capture_output=True, text=True).stdout
                    for shell in ("bash", "zsh", "fish")}
            if not made["zsh"].startswith("#compdef"):
                made["zsh"] = "#compdef ws\n" + made["zsh"]
            return made
        program = self.programs.mock["program"]
        words = [word["name"] for word in program["words"]]
        flags = [name for flag in program["flags"] for name in flag["name"].split(",") if name.startswith("--")]
        pairs = "\n".join(f"complete -c ws-mock -l {flag['name'].split(',')[0][2:]} -d {json.dumps(flag['help'])}" for flag in program["flags"])
        return {"bash": f"# bash completion for ws-mock\ncomplete -o default -W '{' '.join(words + flags)}' ws-mock\n",
                "zsh": f"#compdef ws-mock\n_arguments '*: :({' '.join(words + flags)})'\n",
                "fish": f"complete -c ws-mock -n __fish_use_subcommand -a '{' '.join(words)}'\n{pairs}\n"}

    def completion_paths(self, name):
        return {"bash": f"share/bash-completion/completions/{name}", "zsh": f"share/zsh/vendor-completions/_{name}",
                "fish": f"share/fish/vendor_completions.d/{name}.fish"}

    def pages_of(self, name):
        mine = ("ws-mock.1", "ws-fixtures.5")
        return [page for page in sorted(self.pages.iterdir()) if (page.name in mine) == (name == "ws-mock")]

    # ---- .deb ----

    def deb(self, name):
        root = self.work / f"deb-{name}"
        usr = root / "usr"
        write(usr / "bin" / name, self.stripped[name], 0o755)
        for page in self.pages_of(name):
            write(usr / "share" / "man" / f"man{page.suffix[1:]}" / (page.name + ".gz"), gzipped(page.read_bytes()))
        for shell, text in self.completions(name).items():
            write(usr / self.completion_paths(name)[shell], text)
        for unit in UNITS[name]:
            write(usr / "lib" / "systemd" / "user" / unit, (HERE / "systemd" / unit).read_bytes())
        doc = usr / "share" / "doc" / name
        write(doc / "copyright", inventory.copyright_file())
        day = datetime.fromtimestamp(self.when, timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
        write(doc / "changelog.gz", gzipped(f"{name} ({self.version}) unstable; urgency=medium\n\n"
                                            f"  * What is new is in CHANGELOG.md.gz.\n\n -- {MAINTAINER}  {day}\n"))
        write(doc / "CHANGELOG.md.gz", gzipped((SOURCE / "CHANGELOG.md").read_bytes()))
        write(doc / "THIRD_PARTY.gz", gzipped(self.licenses))
        if name == "ws-mock":
            for example in ("example.yaml", "faults.yaml"):
                write(doc / "examples" / example, (SOURCE / "server-mock" / "fixtures" / example).read_bytes())
        write(usr / "share" / "lintian" / "overrides" / name,
              "# One file to carry from machine to machine: what it needs is linked in on purpose, and `version --json` lists it.\n"
              + "".join(f"{name}: {tag} *\n" for tag in ("embedded-library", "hardening-no-fortify-functions")))
        self.control(root, name)
        for path in [root, *root.rglob("*")]:
            os.utime(path, (self.when, self.when))
            if path.is_dir():
                path.chmod(0o755)
        out = self.dist / f"{name}_{self.version}_{self.processor}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", root, out], check=True, stdout=subprocess.DEVNULL)

    def shared_dependencies(self, name):
        """The C library is the only one that a program needs at its start; portable.py fails where that is not so."""
        faults = portable.faults_of(str(self.bin / name))
        if faults:
            raise SystemExit("\n".join(faults))
        return [f"libc6 (>= {portable.newest_glibc(str(self.bin / name))})"]

    def control(self, root, name):
        usr = root / "usr"
        size = sum(path.stat().st_size for path in usr.rglob("*") if path.is_file()) // 1024
        fields = {"Package": name, "Version": self.version, "Architecture": self.processor, "Maintainer": MAINTAINER,
                  "Installed-Size": str(size), "Section": "utils", "Priority": "optional", "Homepage": HOMEPAGE}
        opened = {key: list(value) for key, value in OPENED[name].items()}
        fields["Depends"] = ", ".join(self.shared_dependencies(name) + opened.pop("Depends", []))
        fields.update({key: ", ".join(value) for key, value in opened.items()})
        short, long = DESCRIPTIONS[name]
        fields["Description"] = "\n ".join([short, *textwrap.wrap(long, 76)])
        write(root / "DEBIAN" / "control", "".join(f"{key}: {value}\n" for key, value in fields.items()))
        sums = [f"{hashlib.md5((root / f).read_bytes()).hexdigest()}  {f}\n" for f in below(root)
                if (root / f).is_file() and not f.startswith("DEBIAN/")]
        write(root / "DEBIAN" / "md5sums", "".join(sums))

    # ---- tarball ----

    def tarball(self):
        name = f"ws-{self.version}-linux-{self.machine}"
        root = self.work / "tar" / name
        for program in ("ws", "ws-mock"):
            write(root / "bin" / program, self.stripped[program], 0o755)
            for shell, text in self.completions(program).items():
                paths = self.completion_paths(program)
                write(root / paths[shell].replace("vendor-completions", "site-functions"), text)
            for unit in UNITS[program]:
                write(root / "share" / "systemd" / "user" / unit, (HERE / "systemd" / unit).read_bytes())
        for page in sorted(self.pages.iterdir()):
            write(root / "share" / "man" / f"man{page.suffix[1:]}" / page.name, page.read_bytes())
        write(root / "install.sh", (HERE / "install.sh").read_bytes(), 0o755)
        for document in ("LICENSE", "CHANGELOG.md", "README.md"):
            write(root / document, (SOURCE / document).read_bytes())
        write(root / "THIRD_PARTY", self.licenses)
        write(root / "ARCH", self.machine + "\n")
        data = tar_of(root.parent, [name] + [f"{name}/{path}" for path in below(root)], self.when)
        write(self.dist / f"{name}.tar.gz", gzipped(data))

    # ---- the mock for Python and Node ----

    def wheel(self):
        tag = f"py3-none-manylinux_2_34_{self.machine}"
        info = f"ws_mock-{self.version}.dist-info"
        readme = "The mock of the Workspace service, for tests: `python -m ws_mock exec -- pytest`\n"
        files = {
            "ws_mock/__init__.py": (HERE / "wheel" / "__init__.py").read_bytes(),
            "ws_mock/__main__.py": (HERE / "wheel" / "__main__.py").read_bytes(),
            "ws_mock/pytest_plugin.py": (SOURCE / "recipes" / "python" / "conftest.py").read_bytes(),
            "ws_mock/ws-mock": self.stripped["ws-mock"],
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: ws-mock\nVersion: {self.version}\nSummary: {DESCRIPTIONS['ws-mock'][0]}\n"
                                f"License: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}".encode(),
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: ws\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
            f"{info}/entry_points.txt": b"[console_scripts]\nws-mock = ws_mock:main\n\n[pytest11]\nws-mock = ws_mock.pytest_plugin\n",
            f"{info}/licenses/LICENSE": (SOURCE / "LICENSE").read_bytes(),
            f"{info}/licenses/THIRD_PARTY": self.licenses.encode(),
        }
        record = ""
        for path, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
        files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
        when = datetime.fromtimestamp(self.when, timezone.utc).timetuple()[:6]
        with zipfile.ZipFile(self.dist / f"ws_mock-{self.version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
            for path, data in files.items():
                entry = zipfile.ZipInfo(path, when)
                entry.external_attr = (0o100755 if path.endswith("/ws-mock") else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3
                wheel.writestr(entry, data)

    def npm(self):
        root = self.work / "npm"
        about = {"name": "ws-mock", "version": self.version, "description": DESCRIPTIONS["ws-mock"][0], "license": "Apache-2.0",
                 "bin": {"ws-mock": "ws-mock.js"}, "main": "ws-mock.js", "os": ["linux"], "cpu": [self.node_cpu],
                 "engines": {"node": ">=16"}, "files": ["ws-mock.js", "world.mjs", "bin/", "LICENSE", "THIRD_PARTY"]}
        write(root / "package" / "package.json", json.dumps(about, indent=2) + "\n")
        write(root / "package" / "ws-mock.js", (HERE / "npm" / "ws-mock.js").read_bytes(), 0o755)
        write(root / "package" / "world.mjs", (SOURCE / "recipes" / "node" / "world.mjs").read_bytes())
        write(root / "package" / "bin" / "ws-mock", self.stripped["ws-mock"], 0o755)
        write(root / "package" / "LICENSE", (SOURCE / "LICENSE").read_bytes())
        write(root / "package" / "THIRD_PARTY", self.licenses)
        files = [path for path in below(root) if (root / path).is_file()]
        write(self.dist / f"ws-mock-{self.version}-linux-{self.node_cpu}.tgz", gzipped(tar_of(root, files, self.when)))

    # ---- OCI image ----

    def image(self):
        root = self.work / "image"
        write(root / "ws-mock", self.stripped["ws-mock-static"], 0o755)
        certificates = Path("/etc/ssl/certs/ca-certificates.crt")
        write(root / "etc" / "ssl" / "certs" / "ca-certificates.crt", certificates.read_bytes())
        write(root / "etc" / "passwd", "nobody:x:65534:65534:nobody:/:/ws-mock\n")
        write(root / "etc" / "group", "nobody:x:65534:\n")
        write(root / "THIRD_PARTY", self.licenses)
        (root / "tmp").mkdir()
        layer = tar_of(root, below(root), self.when)
        packed = gzipped(layer)
        created = datetime.fromtimestamp(self.when, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        config = {"created": created, "architecture": self.image_cpu, "os": "linux",
                  "config": {"User": "65534:65534", "Entrypoint": ["/ws-mock"], "Cmd": ["--listen", "0.0.0.0:8080", "--no-control"],
                             "ExposedPorts": {"8080/tcp": {}}, "WorkingDir": "/",
                             "Healthcheck": {"Test": ["CMD", "/ws-mock", "health", "--listen", "127.0.0.1:8080"],
                                             "Interval": 5_000_000_000, "Timeout": 4_000_000_000, "Retries": 3},
                             "Labels": {"org.opencontainers.image.title": "ws-mock", "org.opencontainers.image.version": self.version,
                                        "org.opencontainers.image.licenses": "Apache-2.0"}},
                  "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
                  "history": [{"created": created, "created_by": "packaging/package.py"}]}
        blobs = {}

        def blob(data, kind):
            digest = hashlib.sha256(data).hexdigest()
            blobs[digest] = data
            return {"mediaType": kind, "digest": "sha256:" + digest, "size": len(data)}

        kind = "application/vnd.oci.image."
        config_at = blob(json.dumps(config, sort_keys=True).encode(), kind + "config.v1+json")
        layer_at = blob(packed, kind + "layer.v1.tar+gzip")
        manifest = blob(json.dumps({"schemaVersion": 2, "mediaType": kind + "manifest.v1+json", "config": config_at,
                                    "layers": [layer_at]}, sort_keys=True).encode(), kind + "manifest.v1+json")
        manifest["platform"] = {"architecture": self.image_cpu, "os": "linux"}
        manifest["annotations"] = {"org.opencontainers.image.ref.name": self.version, "io.containerd.image.name": f"ws-mock:{self.version}"}
        out = self.work / "oci"
        for digest, data in blobs.items():
            write(out / "blobs" / "sha256" / digest, data)
        write(out / "oci-layout", '{"imageLayoutVersion": "1.0.0"}')
        write(out / "index.json", json.dumps({"schemaVersion": 2, "mediaType": kind + "index.v1+json", "manifests": [manifest]}, sort_keys=True))
        # What `docker load` of older versions reads.
        write(out / "manifest.json", json.dumps([{"Config": "blobs/sha256/" + config_at["digest"][7:], "RepoTags": [f"ws-mock:{self.version}"],
                                                  "Layers": ["blobs/sha256/" + layer_at["digest"][7:]]}]))
        write(self.dist / f"ws-mock-{self.version}-{self.machine}.oci.tar", tar_of(out, below(out), self.when))

    def sums(self):
        names = sorted(p.name for p in self.dist.iterdir() if p.is_file() and p.name != "SHA256SUMS")
        write(self.dist / "SHA256SUMS", "".join(f"{hashlib.sha256((self.dist / n).read_bytes()).hexdigest()}  {n}\n" for n in names))

    def make(self):
        added = self.native != self.bin
        if self.dist.exists() and not added:
            for old in self.dist.iterdir():
                old.unlink() if old.is_file() else None
        self.dist.mkdir(parents=True, exist_ok=True)
        for name in ("ws", "ws-mock"):
            self.deb(name)
        self.tarball()
        self.wheel()
        self.npm()
        self.image()
        if not added:
            write(self.dist / f"ws-{self.version}.spdx.json",
                  inventory.spdx(self.programs, self.version, self.programs.commit, self.when, self.dist))
        self.sums()
        shutil.rmtree(self.work)
        for path in sorted(self.dist.iterdir()):
            if path.is_file():
                print(f"{path.stat().st_size:>10}  {path.name}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    Packaging(sys.argv[1], sys.argv[2], sys.argv[-1] if len(sys.argv) == 4 else sys.argv[1]).make()
