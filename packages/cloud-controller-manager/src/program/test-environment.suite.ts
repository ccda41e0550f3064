/** What a test gives to a program that is to be refused: it prints nothing and ends by itself. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ProgramEnvironment } from './program-environment.ts';

/** `say`: is handed what goes to stderr. */
export function testEnvironment(workingDirectory: string, say: (text: string) => void): ProgramEnvironment {
  return {
    env: {},
    stdout: { write: () => assert.fail('nothing to print') },
    stderr: { write: say },
    signals: new EventEmitter(),
    exit: () => assert.fail('must not exit by itself'),
    workingDirectory,
    hostname: 'test',
  };
}
