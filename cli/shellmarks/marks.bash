# Marks of prompts and commands (OSC 133) for honestty; "honestty shell --help".
# C needs PS0, which bash has since 4.4, and D is told only where C was: an empty
# line has run nothing. Every function keeps $? for whoever reads it next.
if [[ $- == *i* && -z ${__honestty_ran+x} ]]; then
	__honestty_ran=0
	__honestty_end() {
		local code=$?
		if ((__honestty_ran)); then
			__honestty_ran=0
			printf '\033]133;D;%d\007' "$code"
		fi
		return "$code"
	}
	__honestty_prompt() {
		local code=$?
		[[ ${PS1-} == *'133;A'* ]] || PS1='\[\e]133;A\a\]'${PS1-}'\[\e]133;B\a\]'
		return "$code"
	}
	if shopt -q promptvars && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
		PS0='${__honestty_ran:$((__honestty_ran = 1)):0}\e]133;C\a'${PS0-}
	fi
	if [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then
		PROMPT_COMMAND=(__honestty_end "${PROMPT_COMMAND[@]}" __honestty_prompt)
	else
		PROMPT_COMMAND=$'__honestty_end\n'${PROMPT_COMMAND-}$'\n__honestty_prompt'
	fi
fi
