/**
 * Credentials from an exec plugin: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 * One run serves all who ask at the same time; a credential is used until shortly before it expires, or until a 401.
 */
import { raceAbort } from '../abort.ts';
import type { Clock } from '../clock.ts';
import type { Credential, Credentials } from './credentials.ts';
import { parseExecCredential, type ExecApiVersion } from './exec-credential.ts';
import { runWithTimeout, type RunExecPlugin } from './exec-plugin.ts';

/** Why a plugin gave no credential. */
export type ExecPluginErrorCode =
  | 'exec-plugin-not-found'
  | 'exec-plugin-failed'
  | 'exec-plugin-answer'
  | 'exec-plugin-terminal';

const BRAND = Symbol.for('outrigger.kube.ExecPluginError');

/** A credential plugin gave no credential. The message never holds what the plugin printed. */
export class ExecPluginError extends Error {
  override readonly name = 'ExecPluginError';
  readonly code: ExecPluginErrorCode;

  constructor(code: ExecPluginErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether `error` is an `ExecPluginError`, of whichever copy of this package. */
export function isExecPluginError(error: unknown): error is ExecPluginError {
  return typeof error === 'object' && error !== null && BRAND in error;
}

/** `spec.cluster` of `ExecCredential`. */
export type ExecCluster = Readonly<Record<string, unknown>>;

export interface ExecCredentialsOptions {
  /** File and key, for messages: `~/.kube/config:12: users[2] "admin": user.exec`. */
  readonly where: string;
  readonly apiVersion: ExecApiVersion;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the program's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  readonly installHint?: string | undefined;
  /** Handed to the plugin when `provideClusterInfo` is set. */
  readonly cluster?: (() => Promise<ExecCluster>) | undefined;
  readonly inheritedEnv: Readonly<Record<string, string | undefined>>;
  readonly run: RunExecPlugin;
  /** Whether stdin is a terminal. */
  readonly hasTerminal: () => boolean;
  readonly clock: Clock;
}

/** A credential is renewed this long before it expires, in milliseconds, but never earlier than in the last tenth of its life. */
const LEEWAY_MS = 30_000;
/** After a run, its outcome stands for at least this long: a broken plugin must not be started for each request. */
const MIN_INTERVAL_MS = 1_000;

export function execCredentials(options: ExecCredentialsOptions): Credentials {
  return new ExecCredentials(options);
}

class ExecCredentials implements Credentials {
  readonly #options: ExecCredentialsOptions;
  #credential: Credential | undefined;
  /** Wall-clock time from which on the credential is not used any more; the plugin gives expiry as wall-clock time. */
  #renewAt = Number.POSITIVE_INFINITY;
  #expiresAt = Number.POSITIVE_INFINITY;
  #lastRun: { readonly at: number; readonly error?: Error } | undefined;
  #running: Promise<Credential> | undefined;

  constructor(options: ExecCredentialsOptions) {
    this.#options = options;
  }

  current(signal?: AbortSignal): Promise<Credential> {
    if (this.#credential && this.#options.clock.now() < this.#renewAt) return Promise.resolve(this.#credential);
    return raceAbort(this.#obtainOrKeep(), signal);
  }

  async renew(rejected: Credential, signal?: AbortSignal): Promise<Credential | undefined> {
    // Many requests get the 401 at once; the first has had the credential renewed for all of them.
    if (this.#credential && this.#credential !== rejected) return this.#credential;
    const renewed = await raceAbort(this.#obtain(), signal);
    return renewed === rejected ? undefined : renewed;
  }

  /** The plugin may fail in the leeway: what it gave before holds until it expires. */
  async #obtainOrKeep(): Promise<Credential> {
    try {
      return await this.#obtain();
    } catch (error) {
      if (!this.#credential || this.#options.clock.now() >= this.#expiresAt) throw error;
      return this.#credential;
    }
  }

  #obtain(): Promise<Credential> {
    if (this.#running) return this.#running;
    const last = this.#lastRun;
    if (last && this.#options.clock.monotonic() - last.at < MIN_INTERVAL_MS) {
      if (last.error) return Promise.reject(last.error);
      if (this.#credential) return Promise.resolve(this.#credential);
    }
    this.#running = this.#run().then(
      (credential) => {
        this.#lastRun = { at: this.#options.clock.monotonic() };
        this.#running = undefined;
        return credential;
      },
      (error: Error) => {
        this.#lastRun = { at: this.#options.clock.monotonic(), error };
        this.#running = undefined;
        throw error;
      },
    );
    return this.#running;
  }

  async #run(): Promise<Credential> {
    const { clock, command, apiVersion } = this.#options;
    const interactive = this.#interactive();
    const info = {
      kind: 'ExecCredential',
      apiVersion,
      spec: { interactive, ...(this.#options.cluster && { cluster: await this.#options.cluster() }) },
    };
    const env = {
      ...this.#options.inheritedEnv,
      ...this.#options.env,
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    };
    let result;
    try {
      result = await runWithTimeout(this.#options.run, { command, args: this.#options.args, env, interactive }, clock);
    } catch (error) {
      const notFound = (error as { code?: unknown }).code === 'ENOENT';
      throw this.#error(
        notFound ? 'exec-plugin-not-found' : 'exec-plugin-failed',
        notFound ? `"${command}" is not installed or not on PATH` : `"${command}": ${(error as Error).message}`,
        error,
      );
    }
    if (result.exitCode !== 0) {
      const how = result.exitCode === null ? 'was killed' : `exited with ${result.exitCode}`;
      throw this.#error('exec-plugin-failed', `"${command}" ${how}; its own words are on standard error`);
    }
    const answer = parseExecCredential(result.stdout, apiVersion);
    if ('problem' in answer) throw this.#error('exec-plugin-answer', `"${command}" ${answer.problem}`);

    this.#renewAt = renewalTime(answer.expiresAt, clock.now());
    this.#expiresAt = answer.expiresAt ?? Number.POSITIVE_INFINITY;
    const { token, certificate } = answer;
    const known = this.#credential;
    const sameToken = known?.headers['authorization'] === (token === undefined ? undefined : `Bearer ${token}`);
    const sameCertificate =
      known?.certificate?.certificate === certificate?.certificate && known?.certificate?.key === certificate?.key;
    if (known && sameToken && sameCertificate) return known;
    this.#credential = {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(certificate && { certificate }),
    };
    return this.#credential;
  }

  #interactive(): boolean {
    const { interactiveMode, hasTerminal } = this.#options;
    if (interactiveMode === 'Never') return false;
    const terminal = hasTerminal();
    if (interactiveMode === 'Always' && !terminal) {
      throw this.#error('exec-plugin-terminal', 'interactiveMode is Always, but standard input is not a terminal');
    }
    return terminal;
  }

  #error(code: ExecPluginErrorCode, what: string, cause?: unknown): ExecPluginError {
    const { where, installHint } = this.#options;
    const hint = installHint && code === 'exec-plugin-not-found' ? `\n${installHint.trim()}` : '';
    return new ExecPluginError(code, `${where}: ${what}${hint}`, cause === undefined ? {} : { cause });
  }
}

function renewalTime(expiresAt: number | undefined, now: number): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY;
  return expiresAt - Math.min(LEEWAY_MS, Math.max(0, expiresAt - now) / 10);
}
