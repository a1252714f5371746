"""What is linked into the programs: THIRD_PARTY, the packages' copyright files, the SPDX document.

usage: inventory.py table          the table in THIRD_PARTY, for the repository
       inventory.py check BIN      fails where the programs in BIN contain what THIRD_PARTY does not list
"""
import json
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent

# Debian package, SPDX license, the name in `version --json`, in which program.
LINKED = [
    ("libboost1.81-dev", "BSL-1.0", "boost", "ws-mock"),
    ("libcli11-dev", "BSD-3-Clause", "cli11", "both"),
    ("libcmark-gfm-dev", "MIT AND BSD-2-Clause", "cmark-gfm", "both"),
    ("libexpected-dev", "CC0-1.0", "tl-expected", "both"),
    ("libfmt-dev", "MIT", "fmt", "both"),
    ("libgit2-dev", "GPL-2.0-only WITH GCC-exception-2.0", "git2", "ws"),
    ("libhttp-parser-dev", "MIT", "", "ws"),
    ("libjemalloc-dev", "BSD-2-Clause", "jemalloc", "ws-mock"),
    ("libmbedtls-dev", "Apache-2.0", "", "ws"),
    ("libpcre2-dev", "BSD-3-Clause", "", "ws"),
    ("libsqlite3-dev", "blessing", "sqlite3", "both"),
    ("libssl-dev", "Apache-2.0", "crypto", "both"),
    ("libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1", "libstdc++", "both"),
    ("libutf8proc-dev", "MIT AND Unicode-DFS-2015", "utf8proc", "both"),
    ("libyaml-cpp-dev", "MIT", "yaml-cpp", "both"),
    ("media-types", "LicenseRef-public-domain", "", "ws"),
    ("nlohmann-json3-dev", "MIT", "nlohmann-json", "both"),
    ("zlib1g-dev", "Zlib", "z", "both"),
]


def installed_version(package):
    out = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return out.stdout.strip() or "not installed"


def upstream(version):
    return version.split(":")[-1].rsplit("-", 1)[0].split("+")[0].split("~")[0]


def table():
    lines = ["Third-party software in ws and ws-mock", "=" * 38, "",
             "The programs of this project are under the Apache License 2.0 (LICENSE). They contain, linked in from Debian 12's",
             "packages, the libraries below; each package that we make carries their full license texts. libcurl, libjq, libsecret",
             "and libqrencode are opened at run time where they are installed, and are not part of what we hand on.", "",
             f"{'library':<22}{'license':<42}{'in':<10}", f"{'-' * 20:<22}{'-' * 40:<42}{'-' * 8:<10}"]
    for package, license, name, where in LINKED:
        shown = name or package.removeprefix("lib").removesuffix("-dev")
        lines.append(f"{shown:<22}{license:<42}{where:<10}".rstrip())
    lines += ["", "libgit2 is under the GPL 2 with an exception that permits linking it into programs under any terms; libstdc++ is under",
              "the GPL 3 with the GCC runtime library exception. OpenSSL is what ws-mock's TLS and both programs' SHA-256 use.", ""]
    return "\n".join(lines)


def licenses():
    """The table, and the copyright files of all packages."""
    parts = [table()]
    for package, _, _, _ in LINKED:
        path = Path("/usr/share/doc") / package / "copyright"
        # Of Boost and OpenSSL thousands of files are listed one by one: all the same.
        parts.append(f"\n{'=' * 100}\n{package} {installed_version(package)}\n{'=' * 100}\n\n")
        parts.append(path.read_text(errors="replace") if path.exists() else "(no copyright file on this machine)\n")
    return "".join(parts)


def copyright_file():
    lines = ["Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/", "Upstream-Name: ws",
             "Source: https://example.org/ws", "Comment: The libraries that are linked in are listed, with their licenses, in THIRD_PARTY.gz.",
             "", "Files: *", "Copyright: 2026 the ws authors", "License: Apache-2.0",
             " On Debian systems, the full text of the Apache License 2.0 is in the file", " /usr/share/common-licenses/Apache-2.0.", ""]
    return "\n".join(lines)


def spdx(programs, version, commit, when, dist):
    """SPDX 2.3 as JSON: the two programs, and what they contain."""
    def package(ident, name, its_version, license):
        return {"SPDXID": ident, "name": name, "versionInfo": its_version, "licenseConcluded": license, "licenseDeclared": license,
                "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False}

    packages = [package("SPDXRef-ws", "ws", version, "Apache-2.0"), package("SPDXRef-ws-mock", "ws-mock", version, "Apache-2.0")]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": ident}
                 for ident in ("SPDXRef-ws", "SPDXRef-ws-mock")]
    for name, license, _, where in LINKED:
        ident = "SPDXRef-" + name.replace("+", "p")
        its = package(ident, name.removesuffix("-dev"), upstream(installed_version(name)), license)
        its["supplier"] = "Organization: Debian"
        its["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                "referenceLocator": f"pkg:deb/debian/{name}@{installed_version(name)}"}]
        packages.append(its)
        for program in ("ws", "ws-mock"):
            if where in (program, "both"):
                relations.append({"spdxElementId": f"SPDXRef-{program}", "relationshipType": "STATIC_LINK", "relatedSpdxElement": ident})
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"ws-{version}",
                "documentNamespace": f"https://example.org/ws/spdx/{version}/{commit}",
                "creationInfo": {"created": datetime.fromtimestamp(when, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                                 "creators": ["Tool: packaging/inventory.py"]},
                "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-public-domain",
                                                "extractedText": "This package contains public information compiled from many sources."}],
                "packages": packages, "relationships": relations}
    return json.dumps(document, indent=1) + "\n"


# Parts of a package whose other part is listed.
PARTS = {"ssl": "crypto", "cmark-gfm-extensions": "cmark-gfm"}


def check(folder):
    faults = [] if (SOURCE / "THIRD_PARTY").read_text() == table() else ["THIRD_PARTY is not what inventory.py table prints"]
    known = {name for _, _, name, _ in LINKED}
    for program in ("ws", "ws-mock"):
        told = subprocess.run([f"{folder}/{program}", "version", "--json"], check=True, capture_output=True, text=True).stdout
        libraries = json.loads(told)["libraries"]
        faults += [f"{program} contains {name}, which THIRD_PARTY does not list" for name in libraries
                   if PARTS.get(name, name) not in known and name not in ("libcurl", "libjq", "libsecret", "libqrencode")]
        faults += [f"{program} does not tell its version of {name}" for name, version in libraries.items() if version == "unknown"]
    print("\n".join(faults) or "ok")
    return 1 if faults else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"] and len(sys.argv) == 3:
        sys.exit(check(sys.argv[2]))
    if sys.argv[1:] != ["table"]:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    print(table(), end="")
