#!/usr/bin/env bash
# Start-up: what a person waits for before anything is done, beside gh and git in one run; and that nothing is loaded that
# is not needed. Bar: <= 10 ms, aim 5 ms.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
export GH_CONFIG_DIR=$work/gh GH_NO_UPDATE_NOTIFIER=1
beside() {  # beside NAME=COMMAND...: gh's is left out where there is none
  local pairs=() pair
  for pair in "$@"; do case $pair in gh*) command -v gh >/dev/null && pairs+=("$pair") ;; *) pairs+=("$pair") ;; esac; done
  medians "${pairs[@]}"
}
beside "ws_--version=ws --version" "gh_--version=gh --version" "git_--version=git --version" "true=true"
beside "ws_--help=ws --help" "gh_--help=gh --help" "git_--help=git --help"
beside "ws_completion_bash=ws completion bash" "gh_completion_-s_bash=gh completion -s bash"
beside "ws_docs_lsit_(usage_error)=ws docs lsit" "gh_repo_lsit=gh repo lsit" "git_lsit=git lsit"

# A note of 5 KB that both sides edited, each in its own paragraph: start, merge and the text on stdout.
for side in base ours theirs; do
  for i in $(seq 60); do
    sentence="Paragraph $i is about stones, walls and what the river left beside them in spring."
    [ $side$i = ours5 ] || [ $side$i = theirs50 ] && sentence="$sentence Edited."
    printf '%s\n\n' "$sentence"
  done >"$work/$side.md"
done
sides=("$work/base.md" "$work/ours.md" "$work/theirs.md")
beside "ws_merge_(5_KB)=ws merge ${sides[*]}" "git_merge-file=git merge-file -p ${sides[1]} ${sides[0]} ${sides[2]}"

# What the dynamic loader opened, by its own account.
loaded() { { LD_DEBUG=files "$@" 2>&1 >/dev/null || true; } | sed -n 's/.*calling init: .*\/\([^/]*\)$/\1/p' | sort -u; }
for words in "--version" "--help" "completion bash" "docs lsit"; do
  libraries=$(loaded ws $words)
  unwanted=$(grep -E 'curl|git2|jq|secret' <<<"$libraries" | tr '\n' ' ' || true)
  printf '  %-34s %d libraries; of curl, git2, jq, secret: %s\n' "ws $words" "$(wc -l <<<"$libraries")" "${unwanted:-none}"
done
