#!/usr/bin/env zsh
# complete_in_shell.zsh bash|zsh LINE: types LINE and a tab into that shell, interactive and on a terminal of its own, and
# prints the line as it then stands. `ws` is looked up in PATH; files of the shell are made in HOME.
emulate -R zsh
zmodload zsh/zpty || exit 1
shell=$1 line=$2

case $shell in
  bash)
    cat >$HOME/.setup <<'RC'
PS1='ready>'
eval "$(ws completion bash)"
show() { printf '%s' "$READLINE_LINE" >"$HOME/.shown"; printf 'shown>'; }
bind -x '"\C-xp": show'
RC
    start=(bash --noprofile --rcfile $HOME/.setup -i)
    ;;
  zsh)
    cat >$HOME/.zshrc <<'RC'
PS1='ready>'
unsetopt prompt_cr prompt_sp
autoload -Uz compinit && compinit -u -d $HOME/.zcompdump
source <(ws completion zsh)
show() { print -rn -- $BUFFER >$HOME/.shown; print -n 'shown>' }
zle -N show && bindkey '^Xp' show
RC
    export ZDOTDIR=$HOME
    start=(zsh -d -i)
    ;;
esac

export TERM=dumb
zpty typed $start || exit 1
zpty -r -m typed seen '*ready>*' || exit 1
zpty -w -n typed "$line"$'\t\x18p'
zpty -r -m typed seen '*shown>*' || exit 1
cat $HOME/.shown
zpty -d typed
