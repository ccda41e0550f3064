/**
 * Carries out a Dockerfile without Docker, as far as ours go: a stage is a folder, RUN is a shell in the working directory of its stage.
 * What it does not know it refuses. For tests.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, matchesGlob } from 'node:path';

export interface DockerfileRun {
  readonly text: string;
  /** The build context. Its `.dockerignore` holds: names and globs, without exceptions. */
  readonly context: string;
  /** Folders with the root file systems of the images that `FROM` names; it is empty for one that is not named here. */
  readonly bases?: Readonly<Record<string, string>>;
  /** Folder of the stages; made. */
  readonly output: string;
  /** Of `RUN`. */
  readonly env?: NodeJS.ProcessEnv;
}

/** What the last stage says of the image. Instructions that are not there are not there. */
export interface DockerfileImage {
  readonly root: string;
  readonly workingDirectory: string;
  readonly entrypoint?: readonly string[];
  readonly user?: string;
}

interface Stage {
  readonly root: string;
  workingDirectory: string;
  entrypoint?: readonly string[];
  user?: string;
}

export function runDockerfile({ bases = {}, context, env, output, text }: DockerfileRun): DockerfileImage {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  const ignored = ignoredIn(context);
  for (const [instruction, rest] of instructionsOf(text)) {
    if (instruction === 'FROM') {
      const [image = '', as, name = `${stages.size}`] = rest.split(/\s+/u);
      if (as !== undefined && as.toUpperCase() !== 'AS') throw new Error(`FROM ${rest}`);
      stage = { root: join(output, name), workingDirectory: '/' };
      const base = bases[image];
      if (base !== undefined) stage = { ...stage, root: base };
      mkdirSync(stage.root, { recursive: true });
      stages.set(name, stage);
      continue;
    }
    if (!stage) throw new Error(`${instruction} before FROM`);
    const inStage = (path: string): string =>
      join((stage as Stage).root, path.startsWith('/') ? path : join((stage as Stage).workingDirectory, path));
    if (instruction === 'WORKDIR') {
      stage.workingDirectory = rest;
      mkdirSync(inStage('.'), { recursive: true });
    } else if (instruction === 'COPY') {
      const words = rest.split(/\s+/u);
      const from = /^--from=(?<from>.+)$/u.exec(words[0] ?? '')?.groups?.['from'];
      const [sources, target = ''] = [words.slice(from === undefined ? 0 : 1, -1), words.at(-1)];
      const source = from === undefined ? context : stages.get(from)?.root;
      if (source === undefined) throw new Error(`COPY ${rest}: there is no stage ${from}`);
      copy(source, sources, inStage(target), target.endsWith('/') || target === '.', from === undefined ? ignored : []);
    } else if (instruction === 'RUN') {
      execFileSync('/bin/sh', ['-c', rest], { cwd: inStage('.'), env, stdio: ['ignore', 'pipe', 'pipe'] });
    } else if (instruction === 'ENTRYPOINT') {
      stage.entrypoint = JSON.parse(rest) as string[];
    } else if (instruction === 'USER') {
      stage.user = rest;
    } else if (!['ENV', 'EXPOSE', 'LABEL'].includes(instruction)) {
      throw new Error(`${instruction} is not known here`);
    }
  }
  if (!stage) throw new Error('there is no FROM');
  return stage;
}

function instructionsOf(text: string): readonly (readonly [string, string])[] {
  const lines = text.replaceAll(/^\s*#.*\n/gmu, '').replaceAll(/\\\n/gu, ' ');
  return lines.split('\n').flatMap((line) => {
    const { instruction = '', rest = '' } = /^(?<instruction>[A-Z]+)\s+(?<rest>.*\S)\s*$/u.exec(line)?.groups ?? {};
    if (instruction === '' && line.trim() !== '') throw new Error(`not an instruction: ${line}`);
    return instruction === '' ? [] : [[instruction, rest]];
  });
}

function ignoredIn(context: string): readonly string[] {
  const [file] = globSync('.dockerignore', { cwd: context });
  if (file === undefined) return [];
  return readFileSync(join(context, file), 'utf8').split('\n').filter(Boolean);
}

/** As Docker: of a folder its content, a pattern may match nothing, a path may not. */
function copy(
  from: string,
  sources: readonly string[],
  target: string,
  isFolder: boolean,
  ignored: readonly string[],
): void {
  const isKept = (path: string): boolean => !ignored.some((pattern) => matchesGlob(path, pattern));
  const found = sources.flatMap((source) => {
    const relative = join('.', source);
    if (relative.startsWith('..')) throw new Error(`${source} is outside of the context`);
    return /[*?[]/u.test(source) ? globSync(relative, { cwd: from }) : [relative];
  });
  if (found.length === 0) throw new Error(`nothing is ${sources.join(' ')}`);
  for (const path of found) {
    const source = join(from, path);
    if (!isKept(path)) throw new Error(`${path} is ignored`);
    const to = isFolder && !statSync(source).isDirectory() ? join(target, basename(path)) : target;
    cpSync(source, to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (one) => isKept(one.slice(from.length + 1)),
    });
  }
}
