/** Where in a provider's files a failure to load it is: what its author has to look at. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Frames that are named at most. */
const FRAMES = 3;
const CHECK_TIMEOUT_MS = 10_000;

/**
 * ` (at /x/my-cloud.ts:3:12)`, or nothing where it is not known. `files`: of the provider, as URLs in the order of their import, which are read again for a syntax
 * error that does not say its place. `host`: URL of the file that called the provider, whose frames are left out.
 */
export function failurePlace(error: unknown, files: Iterable<string>, host: string): string {
  if (!(error instanceof Error)) return '';
  const { stack = '' } = error;
  const frames = framesOf(stack, host);
  // What the provider's own code threw, such as JSON.parse, has frames of it.
  const isUnparsed = error instanceof SyntaxError && frames.length === 0;
  const place = placeOfSyntax(stack) ?? (isUnparsed ? checkSyntax(files) : frames.join(', '));
  return place ? ` (at ${place})` : '';
}

/** Node's own frame of code: the file with its line, the line, and carets under what is wrong; none where the file ends too early. */
function placeOfSyntax(stack: string): string | undefined {
  const lines = stack.split('\n');
  const [, file, line] = /^(.*):(\d+)$/u.exec(lines[0] ?? '') ?? [];
  if (file === undefined || line === undefined || file.startsWith('node:')) return undefined;
  const carets = lines.find((text) => /^\s*\^+$/u.test(text));
  // Behind the end of the last line; the line of the carets is there, and blank.
  const isAtEnd = lines[2]?.trim() === '' && lines.some((text) => text.startsWith('SyntaxError'));
  const column = carets ? carets.indexOf('^') : isAtEnd ? (lines[1] ?? '').length : undefined;
  return column === undefined ? undefined : `${pathOf(file)}:${line}:${column + 1}`;
}

/** Of a JavaScript module, Node keeps the place to itself, but for the check of a file: the last first, as what is wrong ends the imports. */
function checkSyntax(files: Iterable<string>): string | undefined {
  for (const url of [...files].toReversed()) {
    if (!/\.m?js$/u.test(url) || !url.startsWith('file:')) continue;
    const { stderr } = spawnSync(process.execPath, ['--check', fileURLToPath(url)], {
      env: {},
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: CHECK_TIMEOUT_MS,
    });
    const place = placeOfSyntax(stderr);
    if (place !== undefined) return place;
  }
  return undefined;
}

/** The frames that are the provider's: up to Node's loader, or the host. */
function framesOf(stack: string, host: string): readonly string[] {
  const frames: string[] = [];
  for (const line of stack.split('\n')) {
    const [, frame] = /^ {4}at (?:async )?(.*)$/u.exec(line) ?? [];
    if (frame === undefined) continue;
    if (frame.includes('node:') || frame.includes(host) || frames.length === FRAMES) break;
    frames.push(pathOf(frame));
  }
  return frames;
}

function pathOf(text: string): string {
  return text.replace(/file:\/\/[^\s)]*?(?=:\d+(?::\d+)?\)?$|$)/u, (url) => fileURLToPath(url));
}
