/** `outrigger status`, as a person runs it. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { tmpdir } from 'node:os';
import { newCloudControllerManager } from '@outrigger/cloud-controller-manager';
import { statusCommand } from '@outrigger/status';

export interface StatusOutcome {
  readonly code: number;
  /** What it prints. */
  readonly text: string;
}

const outrigger = newCloudControllerManager({ providers: {}, commands: [statusCommand] });

export async function status(...args: readonly string[]): Promise<StatusOutcome> {
  let text = '';
  const code = await outrigger.main(['status', ...args], {
    program: 'outrigger',
    env: {},
    stdout: { write: (more) => void (text += more) },
    stderr: { write: (more) => void (text += more) },
    signals: new EventEmitter(),
    exit: () => assert.fail('must not exit by itself'),
    workingDirectory: tmpdir(),
    hostname: 'test',
  });
  return { code, text };
}
