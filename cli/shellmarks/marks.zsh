# Marks of prompts and commands (OSC 133) for honestty; "honestty shell --help".
# D is told only where C was: an empty line has run nothing.
if [[ -o interactive && -z ${__honestty_ran+x} ]]; then
	typeset -gi __honestty_ran=0
	__honestty_begin() {
		__honestty_ran=1
		printf '\033]133;C\007'
	}
	__honestty_end() {
		local code=$?
		if ((__honestty_ran)); then
			__honestty_ran=0
			printf '\033]133;D;%d\007' "$code"
		fi
	}
	__honestty_prompt() {
		if [[ -o prompt_percent && $PS1 != *'133;A'* ]]; then
			PS1=$'%{\e]133;A\a%}'$PS1$'%{\e]133;B\a%}'
		fi
	}
	precmd_functions=(__honestty_end "${precmd_functions[@]}" __honestty_prompt)
	preexec_functions+=(__honestty_begin)
fi
