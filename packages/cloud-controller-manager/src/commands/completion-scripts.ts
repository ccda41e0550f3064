/** The scripts of `outrigger completion`, from what is to be completed. Pure. */

export interface CompletedFlag {
  /** Without the hyphens. */
  readonly name: string;
  readonly shorthand: string | undefined;
  readonly takesValue: boolean;
  /** All that its value can be; empty: anything, such as a file. */
  readonly values: readonly string[];
  /** Some words. */
  readonly about: string;
}

export interface CompletedCommand {
  /** Empty: the program, without a command. */
  readonly name: string;
  readonly summary: string;
  /** Of which one comes after the name. */
  readonly words: readonly string[];
  readonly flags: readonly CompletedFlag[];
}

/** bash gives `--flag=value` as three words, zsh as one. What is completed to nothing here is completed as a file. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).filter((name) => name !== '');
  const values = commands.flatMap(({ flags, name }) =>
    flags
      .filter(({ values }) => values.length > 0)
      .map(
        (flag) =>
          `    ${spellings(flag)
            .map((one) => `'${name} ${one}'`)
            .join('|')}) words='${flag.values.join(' ')}' ;;\n`,
      ),
  );
  const words = commands.map(({ flags, name, words }) => {
    const own = flags.map((flag) => `--${flag.name}${flag.takesValue ? '=' : ''}`);
    return `      '${name}') words='${own.join(' ')}' first='${(name === '' ? names : words).join(' ')}' ;;\n`;
  });
  return `_outrigger() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command='' at=1 words='' first='' head=''
  case "\${COMP_WORDS[1]}" in
    ${names.join('|')}) if (( COMP_CWORD > 1 )); then command="\${COMP_WORDS[1]}"; at=2; fi ;;
  esac
  if [[ "$cur" == --*=* ]]; then prev="\${cur%%=*}"; head="$prev="; cur="\${cur#*=}"
  elif [[ "$cur" == = ]]; then cur=''
  elif [[ "$prev" == = ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  case "$command $prev" in
${values.join('')}    *) [[ "$prev" != -* || "$cur" == -* ]] || return
      case "$command" in
${words.join('')}      esac
      if [[ "$cur" != -* ]]; then words=''; if (( COMP_CWORD == at )); then words="$first"; fi; fi ;;
  esac
  COMPREPLY=($(compgen -P "$head" -W "$words" -- "$cur"))
  if [[ "\${COMPREPLY[0]}" == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _outrigger outrigger cloud-controller-manager
`;
}

export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ flags, name, summary, words }) => {
    const under = name === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${name}`;
    const both = name === '' ? ['cloud-controller-manager'] : ['outrigger', 'cloud-controller-manager'];
    return both.flatMap((program) => [
      ...(name === '' ? [] : [`complete -c ${program} -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`]),
      ...(words.length === 0 ? [] : [`complete -c ${program} -n '${under}' -f -a '${words.join(' ')}'`]),
      ...flags.map(({ about, name: flag, shorthand, takesValue, values }) =>
        [
          `complete -c ${program} -n '${under}' -l ${flag}`,
          ...(shorthand === undefined ? [] : [`-s ${shorthand}`]),
          ...(takesValue ? ['-r'] : []),
          ...(values.length === 0 ? [] : [`-f -a '${values.join(' ')}'`]),
          `-d ${quoted(about)}`,
        ].join(' '),
      ),
    ]);
  });
  return `${lines.join('\n')}\n`;
}

/** What cobra's completion, which kubectl asks plugins by, is to do besides: the sum of these. */
const NO_SPACE = 2;
const NO_FILES = 4;

/** The answer of `kubectl_complete-outrigger`: a line for each candidate, and what else is to be done. `words`: the last is being typed. */
export function kubectlCompletion(commands: readonly CompletedCommand[], words: readonly string[]): string {
  const typed = words.at(-1) ?? '';
  const given = words.slice(0, -1);
  const answer = (candidates: readonly string[], directive: number): string =>
    `${[...candidates.filter((one) => one.startsWith(typed)), `:${directive}`].join('\n')}\n`;
  const command = commands.find(({ name }) => name !== '' && name === given[0]);
  if (!command) {
    const all = commands.filter(({ name }) => name !== '').map(({ name, summary }) => `${name}\t${summary}`);
    return given.length === 0 ? answer(all, NO_FILES) : answer([], NO_FILES);
  }
  const valued = command.flags.filter(({ takesValue }) => takesValue);
  const inline = valued.find(({ name }) => typed.startsWith(`--${name}=`));
  const before = valued.find((flag) => spellings(flag).includes(given.at(-1) ?? ''));
  const flag = inline ?? before;
  if (flag) {
    const head = inline ? `--${flag.name}=` : '';
    return answer(
      flag.values.map((value) => `${head}${value}`),
      flag.values.length > 0 ? NO_FILES : 0,
    );
  }
  if (typed.startsWith('-')) {
    const flags = command.flags.map(({ about, name, takesValue }) => `--${name}${takesValue ? '=' : ''}\t${about}`);
    return answer(flags, NO_FILES + NO_SPACE);
  }
  return given.length === 1 ? answer(command.words, NO_FILES) : answer([], 0);
}

function spellings({ name, shorthand }: CompletedFlag): readonly string[] {
  return [`--${name}`, ...(shorthand === undefined ? [] : [`-${shorthand}`])];
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/gu, String.raw`\$&`)}'`;
}
