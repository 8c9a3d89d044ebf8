# Marks of prompts and commands (OSC 133) for honestty; "honestty shell --help".
# fish sets them by itself from version 4 on.
if status is-interactive; and not set -q __honestty_marks; and string match -qr '^[0-3]\.' -- $version
    set -g __honestty_marks 1
    function __honestty_begin --on-event fish_preexec
        printf '\033]133;C\007'
    end
    function __honestty_end --on-event fish_postexec
        set -l code $status
        printf '\033]133;D;%d\007' $code
    end
    function __honestty_code
        return $argv[1]
    end
    functions -c fish_prompt __honestty_fish_prompt
    function fish_prompt
        set -l code $status
        printf '\033]133;A\007'
        __honestty_code $code
        __honestty_fish_prompt
        printf '\033]133;B\007'
    end
end
