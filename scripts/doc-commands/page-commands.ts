/** The commands of a page of Markdown, as a shell would take them apart. Pure. */

export interface PageLine {
  readonly line: string;
  /** Of a block of commands; else it is `code` inside of a sentence, which may be a name and no command. */
  readonly block: boolean;
}

/** A block of the shell, and what else may be a fence. */
const FENCE = /^ *```(\w*)\n([\s\S]*?)^ *```$/gmu;
const SHELLS = new Set(['bash', 'console', 'sh', 'shell']);
/** Four spaces after an empty line begin a block too: of those that begin with one of these words. */
const TYPED =
  /^(?:make|npx|npm|node|kubectl|helm|docker|skopeo|ctr|outrigger|bin\/|cloud-controller-manager --|git |sudo )/u;

/** In their order; lines that end in a backslash are joined. */
export function linesOfPage(page: string): readonly PageLine[] {
  const text = page.replaceAll(/<!--[\s\S]*?-->/gu, '');
  const lines: PageLine[] = [];
  const prose = text.replaceAll(FENCE, (_all, language: string, body: string) => {
    if (!SHELLS.has(language)) return '';
    const isConsole = language === 'console' || /^ *\$ /mu.test(body);
    const heredoc = body.replaceAll(/(<<'?(\w+)'?[^\n]*)\n[\s\S]*?^ *\2$/gmu, '$1');
    for (const line of joined(heredoc)) {
      if (!isConsole) lines.push({ line, block: true });
      else if (/^ *\$ /u.test(line)) lines.push({ line: line.replace(/^ *\$ /u, ''), block: true });
    }
    return '';
  });
  for (const line of joined(prose)) {
    const indented = /^(?: {4}| {7})(\S.*)$/u.exec(line)?.[1];
    if (indented !== undefined && TYPED.test(indented)) lines.push({ line: indented, block: true });
    else if (indented === undefined) {
      for (const [, code = ''] of line.matchAll(/`([^`]+)`/gu)) lines.push({ line: code, block: false });
    }
  }
  return lines;
}

function joined(text: string): readonly string[] {
  return text.replaceAll(/ *\\\n */gu, ' ').split('\n');
}

/** The simple commands of a line: what pipes, `&&`, `;` and substitutions join. Redirections, assignments and `sudo` are left out. */
export function commandsOfLine(line: string): readonly (readonly string[])[] {
  const inner = [...line.matchAll(/[$<]\(([^()]*)\)/gu)].flatMap(([, part = '']) => commandsOfLine(part));
  return [
    ...splitLine(line.replaceAll(/[$<]\([^()]*\)/gu, 'SUBSTITUTED'))
      .map(bare)
      .filter(([first]) => first !== undefined),
    ...inner,
  ];
}

function bare(words: readonly string[]): readonly string[] {
  const rest = words.filter((word, i) => !/^\d?[<>]/u.test(word) && !/^\d?[<>]{1,2}$/u.test(words[i - 1] ?? ''));
  const start = rest.findIndex((word) => word !== 'sudo' && word !== '$' && !/^[A-Z_]+=/u.test(word));
  return start < 0 ? [] : rest.slice(start).filter((word) => word !== '…' && word !== '...');
}

/** Words by the shell's quotes; a word that begins with `#` ends the line. */
function splitLine(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  for (const [, single, double, operator, comment, plain] of line.matchAll(
    /(?:((?:[^\s'"|&;#]*'[^']*')+[^\s'"|&;]*)|((?:[^\s'"|&;#]*"[^"]*")+[^\s'"|&;]*)|(\|\|?|&&|;)|(#.*)|([^\s|&;]+))/gu,
  )) {
    if (comment !== undefined) break;
    if (operator === undefined) commands.at(-1)?.push((single ?? double ?? plain ?? '').replaceAll(/['"]/gu, ''));
    else commands.push([]);
  }
  return commands;
}
