/** Carries out a guide that is its own test script. Entry point: `runGuide`. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@outrigger/kube';
import type { ControlPlane } from '@outrigger/testing';
import { readGuide } from './guide-page.ts';

const PROGRAM = fileURLToPath(new URL('../distribution/src/cloud-controller-manager.ts', import.meta.url));
/** Where pages have their files. */
const HOMES = /\/etc\/(?:kubernetes|rancher\/(?:k3s|rke2))\//gu;
const PATIENCE_MS = 180_000;

export interface GuideRunOptions {
  readonly page: URL;
  readonly controlPlane: ControlPlane;
  /** In place of those of the page; commands are run in it. */
  readonly directory: string;
  /** What the page has marked with `run`: `act('start', 'outrigger', ['--a=b'])`. */
  readonly act: (action: string, who: string, flags: readonly string[]) => Promise<void>;
  /** What to show when a command does not print what the page says. */
  readonly log: () => Promise<string>;
}

export interface GuideRun {
  /** How many commands the page has. */
  readonly commands: number;
  /** Runs a command as those of the page, and gives what it prints. */
  readonly print: (command: string) => Promise<string>;
}

/** Throws when a command does not come to print what the page says within three minutes. */
export async function runGuide({ act, controlPlane, directory, log, page }: GuideRunOptions): Promise<GuideRun> {
  const here = (text: string): string => text.replaceAll(HOMES, `${directory}/`);
  const command = `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`;
  await writeFile(path.join(directory, 'outrigger'), command, { mode: 0o755 });
  const env = {
    ...process.env,
    KUBECONFIG: controlPlane.kubeconfig.path,
    PATH: `${directory}:${path.dirname(controlPlane.kubectl ?? '')}:${process.env['PATH']}`,
  };
  const print = (command: string): Promise<string> =>
    new Promise((resolve) => {
      execFile('/bin/sh', ['-c', here(command)], { cwd: directory, env }, (_error, stdout) => resolve(stdout));
    });
  let commands = 0;
  for (const step of readGuide(await readFile(page, 'utf8'))) {
    if (step.kind === 'file') {
      const file = path.resolve(directory, here(step.name));
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, here(step.text));
    } else if (step.kind === 'run') {
      await act(step.action, step.who, step.flags.map(here));
    } else {
      commands++;
      await untilPrinted(step.command, step.output, print, log);
    }
  }
  return { commands, print };
}

async function untilPrinted(
  command: string,
  expected: string,
  print: (command: string) => Promise<string>,
  log: () => Promise<string>,
): Promise<void> {
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  for (;;) {
    const printed = await print(command);
    if (printed === expected) return;
    if (systemClock.monotonic() > deadline) {
      const what = `$ ${command}\nshould print ${JSON.stringify(expected)}, and prints ${JSON.stringify(printed)}`;
      throw new Error(`${what}\n${(await log()).slice(-4_000)}`);
    }
    await systemClock.sleep(100);
  }
}
