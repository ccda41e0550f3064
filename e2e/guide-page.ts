/** A guide that is its own test script: what of a page is to be done, in order. Pure. */

export type GuideStep =
  /** `<!-- file: name -->` before a code block. */
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  /** `<!-- run: start|stop|restart who -->`, with the flags in the block right after it, if there is one. */
  | { readonly kind: 'run'; readonly action: string; readonly who: string; readonly flags: readonly string[] }
  /** A line with `$ ` in a `console` block, and the lines that it prints. */
  | { readonly kind: 'command'; readonly command: string; readonly output: string };

/** A mark with the block right after it, if there is one; or a block of commands. */
const PIECES =
  /^<!-- (?<what>file|run): (?<rest>.+) -->\n(?:```\w+\n(?<marked>[\s\S]*?)^```$)?|^```console\n(?<commands>[\s\S]*?)^```$/gmu;

export function readGuide(page: string): readonly GuideStep[] {
  return [...page.matchAll(PIECES)].flatMap(({ groups = {} }) => {
    const { commands, marked = '', rest = '', what } = groups;
    if (what === 'file') return [{ kind: 'file', name: rest, text: marked }];
    if (commands !== undefined) return commandsOf(commands);
    const [action = '', who = ''] = rest.split(' ');
    return [{ kind: 'run', action, who, flags: marked.split('\n').filter((line) => line !== '') }];
  });
}

function commandsOf(text: string): readonly GuideStep[] {
  const commands = text.split(/^\$ /mu).slice(1);
  return commands.map((item) => {
    const [command = '', ...output] = item.split('\n');
    return { kind: 'command', command, output: output.join('\n') };
  });
}
