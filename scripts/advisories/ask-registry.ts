/** What the registry of npm says of everything that a lock file of the repository has. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { judgeAdvisories, readAudit, toolsIn, type Acceptance, type Advisory, type Judgement } from './judge-audit.ts';
import { npmAudit } from './npm-audit.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

export interface FoundAdvisory extends Advisory {
  /** The lock file that has it, relative to the repository. */
  readonly lock: string;
}

export interface Report extends Judgement<FoundAdvisory> {
  /** Lock files of which the registry did not say whether there are any, each with the reason. */
  readonly unknown: readonly string[];
}

/** `today`: `2026-12-31`. */
export async function askRegistry(acceptances: readonly Acceptance[], today: string): Promise<Report> {
  const locks = execFileSync('git', ['-C', repository, 'ls-files', '-z', '*package-lock.json'], { encoding: 'utf8' });
  const advisories: FoundAdvisory[] = [];
  const unknown: string[] = [];
  const asked = locks
    .split('\0')
    .filter(Boolean)
    .map(async (lock) => ({ lock, answer: await ask(lock) }));
  for (const { answer, lock } of await Promise.all(asked)) {
    if (answer.kind === 'unknown') unknown.push(`${lock}: ${answer.reason}`);
    else advisories.push(...answer.advisories.map((one) => ({ ...one, lock })));
  }
  return { ...judgeAdvisories(advisories, acceptances, today), unknown };
}

async function ask(lock: string): Promise<ReturnType<typeof readAudit>> {
  const file = path.join(repository, lock);
  return readAudit(await npmAudit(['--loglevel=error'], path.dirname(file)), toolsIn(readFileSync(file, 'utf8')));
}
