    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    # Bash parts words at = and :, which belong to them here: what follows without a blank is put back.
    local rest=$COMP_LINE i
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        if [[ $i -gt 0 && -n $rest && $rest != [[:space:]]* ]]; then
            words[${#words[@]} - 1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
        rest=${rest#*"${COMP_WORDS[i]}"}
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=${words[cword - 1]}
