/** The commands `lint-repo` and `docs` of the program `outrigger`, which finds them here by their names when this package is installed. */
import path from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { CommandIo } from './command-io.ts';
import { collectDocs } from './docs/collect-docs.ts';
import { lintRepository } from './lint/lint-repository.ts';
import { renderReport } from './lint/render-report.ts';

const LINT_HELP = `outrigger lint-repo DIR [--output=text|json]

Holds the repository of a provider against what Kubernetes asks of one, item by item. Exit code 1: something that it must have is missed.
`;
const DOCS_HELP = `outrigger docs collect DIR… --output=OUT

Brings the pages of providers' repositories into one tree, with an index made of their provider.yaml. Exit code 1: a link leads nowhere.
`;

/** `args` without the command's name. Returns the exit code; what is wrong with them is one line on stderr. Never throws. */
export async function lintRepoCommand(args: readonly string[], io: CommandIo): Promise<number> {
  return told('lint-repo', LINT_HELP, args, io, (words, output) => {
    const [directory, ...more] = words;
    if (directory === undefined || more.length > 0)
      throw new Error('name one repository; usage: outrigger lint-repo DIR');
    if (!['json', 'text'].includes(output ?? 'text')) throw new Error(`--output=${output}: must be text or json`);
    const report = lintRepository(path.resolve(io.cwd, directory));
    io.stdout.write(output === 'json' ? `${JSON.stringify(report, undefined, 2)}\n` : renderReport(report));
    return report.passed ? 0 : 1;
  });
}

/** As `lintRepoCommand`. */
export async function docsCommand(args: readonly string[], io: CommandIo): Promise<number> {
  return told('docs', DOCS_HELP, args, io, (words, output) => {
    const [word, ...directories] = words;
    if (word !== 'collect') throw new Error('usage: outrigger docs collect DIR… --output=OUT');
    if (output === undefined) throw new Error('--output is not set: name the folder to make');
    const repositories = directories.map((directory) => path.resolve(io.cwd, directory));
    const { broken, pages, providers } = collectDocs({ repositories, output: path.resolve(io.cwd, output) });
    for (const link of broken) io.stderr.write(`outrigger docs: ${link} leads nowhere\n`);
    io.stdout.write(`${output}: ${pages.length} pages of ${providers.length} providers\n`);
    return broken.length === 0 ? 0 : 1;
  });
}

const OPTIONS = {
  output: { type: 'string', short: 'o' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options'];

function told(
  name: string,
  help: string,
  args: readonly string[],
  { stderr, stdout }: CommandIo,
  run: (words: readonly string[], output: string | undefined) => number,
): number {
  try {
    const { positionals, values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    if (!values.help) return run(positionals, values.output);
    stdout.write(help);
    return 0;
  } catch (error) {
    stderr.write(`outrigger ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
