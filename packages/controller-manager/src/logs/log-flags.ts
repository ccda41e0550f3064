/** The flags of the log, as component-base names them. */
import type { FlagGroup } from '../flags/flag-group.ts';
import { bool, duration, integer, oneOf, quantity, type FlagType } from '../flags/flag-type.ts';
import { parseVmodule, type VmodulePattern } from './verbosity.ts';

export interface LogOptions {
  loggingFormat: 'text' | 'json';
  v: number;
  vmodule: readonly VmodulePattern[];
  logFlushFrequency: number;
  logJsonInfoBufferSize: string;
  logJsonSplitStream: boolean;
  logTextInfoBufferSize: string;
  logTextSplitStream: boolean;
}

const ONE_STREAM = 'Accepted for compatibility: all lines go to stderr.';
const NO_BUFFER = 'Accepted for compatibility: lines are written within 50 ms.';

const vmodule: FlagType<readonly VmodulePattern[]> = {
  word: 'pattern=N,...',
  parse: (text, previous) => [...(previous ?? []), ...parseVmodule(text)],
  format: (patterns) => patterns.map(({ pattern, level }) => `${pattern}=${level}`).join(','),
};

export const logFlags: FlagGroup<LogOptions> = {
  title: 'Logs',
  flags: {
    loggingFormat: { type: oneOf(['text', 'json']), default: 'text', usage: 'The format of the log: text or json.' },
    v: {
      type: { ...integer({ min: 0 }), word: 'Level' },
      default: 0,
      shorthand: 'v',
      usage: 'Log verbosity: 2 changes, 4 decisions, 6 requests, 8 bodies.',
    },
    vmodule: {
      type: vmodule,
      default: [],
      usage: 'Log verbosity of components that match a pattern, for example node*=4.',
    },
    logFlushFrequency: {
      type: duration(),
      default: 5_000,
      compatibility: true,
      usage: NO_BUFFER,
    },
    logJsonInfoBufferSize: { type: quantity, default: '0', compatibility: true, usage: NO_BUFFER },
    logJsonSplitStream: { type: bool, default: false, compatibility: true, usage: ONE_STREAM },
    logTextInfoBufferSize: { type: quantity, default: '0', compatibility: true, usage: NO_BUFFER },
    logTextSplitStream: { type: bool, default: false, compatibility: true, usage: ONE_STREAM },
  },
};
