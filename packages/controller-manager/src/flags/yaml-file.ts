/** A configuration file in YAML or JSON that remembers where in it each thing stands: what is refused is refused with file and line. */
import type * as yaml from 'yaml';
import { FlagError } from './flag-error.ts';

export interface YamlFile {
  /** The library that has read it; loaded only by those who have a file. */
  readonly yaml: typeof yaml;
  readonly document: yaml.Document.Parsed;
  /** 1 for the first line, and for what stands nowhere. */
  readonly lineOf: (node: unknown) => number;
  /** `<file>:<line>: <what>`. Without a node, as far as the file has it: its first line. */
  readonly refuse: (node: unknown, what: string) => FlagError;
}

/** `path`: where `text` is from, for messages. Rejects with a `FlagError` for what is not YAML. */
export async function parseYamlFile(path: string, text: string): Promise<YamlFile> {
  const library = await import('yaml');
  const lines = new library.LineCounter();
  const document = library.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const [broken] = document.errors;
  if (broken) throw new FlagError('invalid-flag', `${path}:${lineAt(broken.pos[0])}: not YAML: ${broken.message}`);
  const lineOf = (node: unknown): number => lineAt((node as { range?: [number] } | null | undefined)?.range?.[0] ?? 0);
  return {
    yaml: library,
    document,
    lineOf,
    refuse: (node, what) => new FlagError('invalid-flag', `${path}:${lineOf(node)}: ${what}`),
  };
}
