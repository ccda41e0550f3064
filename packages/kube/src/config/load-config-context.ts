/** What the parts of a configuration keep to read files and run plugins later. */
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { ReadFile } from './cluster-config.ts';
import type { RunExecPlugin } from './exec-plugin.ts';
import type { OnSecret } from './register-secrets.ts';

export interface LoadConfigContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: ReadFile;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each secret as it is read. */
  readonly onSecret: OnSecret;
  readonly runExecPlugin: RunExecPlugin;
  /** Whether stdin is a terminal. */
  readonly hasTerminal: () => boolean;
}
