/** What is wrong with a configuration, and where: one line that names the file, the line and the key. */

/** Stable; what a program may branch on. */
export type ConfigErrorCode =
  /** No kubeconfig, no in-cluster environment, no `--master`. */
  | 'config-not-found'
  /** A file that the configuration names cannot be read. */
  | 'config-file-unreadable'
  /** Not YAML, or a field of the wrong type, or fields that contradict each other. */
  | 'config-invalid'
  /** A context, cluster or user that is referred to does not exist. */
  | 'config-reference'
  /** A field that this program does not support. */
  | 'config-unsupported';

const BRAND = Symbol.for('outrigger.kube.ConfigError');

/** Thrown by `loadConfig`. The message never holds a credential. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code: ConfigErrorCode;
  /** File and key, for example `/etc/kubeconfig:12: users[2] "admin": user.exec.apiVersion`. */
  readonly where: string;

  constructor(code: ConfigErrorCode, where: string, message: string, options?: ErrorOptions) {
    super(`${where}: ${message}`, options);
    this.code = code;
    this.where = where;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether `error` is a `ConfigError`, of whichever copy of this package. */
export function isConfigError(error: unknown): error is ConfigError {
  return typeof error === 'object' && error !== null && BRAND in error;
}
