/** The program: `outrigger-image-credentials ecr < request > response`. */
import { readFile as readFileOf, stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { asError, type Clock } from '@outrigger/cloud-provider';
import { didYouMean, untilAborted } from '@outrigger/provider-kit';
import { acr } from './acr/acr.ts';
import { CONFIG_FILE, readImageCredentialsConfig } from './config.ts';
import { ecr } from './ecr/ecr.ts';
import { Failure } from './failure.ts';
import { gcr } from './gcr/gcr.ts';
import { generic } from './generic/generic.ts';
import { HttpSender } from './http-sender.ts';
import { parseImage } from './image-registry.ts';
import { install, PROGRAM } from './install.ts';
import { API_VERSION, LONGEST_REQUEST, readRequest, renderResponse, type Credentials } from './protocol.ts';
import type { ImageCredentialsProvider } from './provider.ts';

export type ProviderName = 'acr' | 'ecr' | 'gcr' | 'generic';

const providers: Readonly<Record<ProviderName, ImageCredentialsProvider>> = { acr, ecr, gcr, generic };

/** The program's surroundings. */
export interface CommandIo {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The file of the executable, which `install` copies. */
  readonly self: string;
  /** Resolves when the process is asked to end. Only asked for by `install --wait`. */
  readonly ended: () => Promise<void>;
}

const HELP = `${PROGRAM} acr|ecr|gcr|generic [--config=FILE]
    Image credential provider of the kubelet: reads a CredentialProviderRequest from stdin, writes the response to stdout.
${PROGRAM} check acr|ecr|gcr|generic IMAGE [--config=FILE]
    Asks for the credentials of an image as the node would, and says what it got, without the password.
${PROGRAM} install --bin-dir=DIR --config-dir=DIR [--from=DIR] [--wait]
    Puts itself into the first DIR, and the configuration files of the last into the second. --wait: then waits for its end.

FILE: default ${CONFIG_FILE}, which may be missing.
`;
const LONGEST_FILE = 1 << 20;

/**
 * `args` without the program's name. Resolves with the exit code, with which the process is to be ended, as stdin may still be open; what
 * went wrong is one line on stderr, with its code. Never rejects.
 */
export async function imageCredentialsCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const secrets = new Set<string>();
  let told: string = PROGRAM;
  try {
    if (args[0] === 'install') {
      told = `${PROGRAM} install`;
      await installBy(args.slice(1), io);
      return 0;
    }
    const { check, config, help, image, provider } = readArgs(args);
    if (help) {
      io.stdout.write(HELP);
      return 0;
    }
    told = `${PROGRAM} ${provider}`;
    const readText = () => (check ? Promise.resolve(requestFor(image)) : readAll(io.stdin));
    const credentials = await withCredentials(provider, readText, config, io, secrets);
    io.stdout.write(check ? describe(credentials) : renderResponse(credentials));
    return 0;
  } catch (thrown) {
    const error = asError(thrown);
    const code = error instanceof Failure ? error.code : 'internal';
    io.stderr.write(`${told}: ${code}: ${oneLine(error.message, secrets)}\n`);
    return 1;
  }
}

async function installBy(args: readonly string[], { ended, self, stdout }: CommandIo): Promise<void> {
  const text = { type: 'string' } as const;
  const options = { 'bin-dir': text, 'config-dir': text, from: text, wait: { type: 'boolean' } } as const;
  const {
    'bin-dir': binDir,
    'config-dir': configDir,
    from,
    wait,
  } = parsed(() => parseArgs({ args: [...args], options }).values);
  if (binDir === undefined || configDir === undefined)
    throw new Failure('usage', 'install needs --bin-dir and --config-dir');
  const files = await install({ self, binDir, configDir, from });
  // Who has read what was installed may ask it to end.
  const asked = wait ? ended() : undefined;
  for (const file of files) stdout.write(`${file}\n`);
  await asked;
}

/** Throws `usage`. */
function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Failure('usage', `${asError(error).message}; see ${PROGRAM} --help`, { cause: error });
  }
}

interface Args {
  readonly check: boolean;
  readonly help: boolean;
  readonly provider: ProviderName;
  readonly image: string;
  readonly config: string | undefined;
}

function readArgs(args: readonly string[]): Args {
  const options = { config: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
  const { positionals, values } = parsed(() => parseArgs({ args: [...args], options, allowPositionals: true }));
  const check = positionals[0] === 'check';
  const [name = '', image = '', ...more] = check ? positionals.slice(1) : positionals;
  if (values.help) return { check, help: true, provider: 'generic', image, config: undefined };
  if (!Object.hasOwn(providers, name)) {
    const hint = didYouMean(name, Object.keys(providers));
    throw new Failure(
      'usage',
      `the first argument must be acr, ecr, gcr or generic, not "${name.slice(0, 50)}"${hint}; see ${PROGRAM} --help`,
    );
  }
  if (more.length > 0 || check === (image === '')) {
    throw new Failure('usage', check ? `name one image; see ${PROGRAM} --help` : 'one argument too many');
  }
  return { check, help: false, provider: name as ProviderName, image, config: values.config };
}

function requestFor(image: string): string {
  return JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion: API_VERSION, image });
}

async function withCredentials(
  name: ProviderName,
  readText: () => Promise<string>,
  configFile: string | undefined,
  { clock, env }: CommandIo,
  secrets: Set<string>,
): Promise<Credentials> {
  const fileName = configFile ?? CONFIG_FILE;
  const config = readImageCredentialsConfig(fileName, await readConfigFile(fileName, configFile !== undefined));
  const [done, late] = [new AbortController(), new AbortController()];
  clock.sleep(config.timeout, done.signal).then(
    () => late.abort(new Failure('timeout', `no credentials within ${config.timeout / 1_000} s`)),
    () => {},
  );
  try {
    // What is sent ends by the signal; stdin may stay open.
    const request = readRequest(await untilAborted(readText(), late.signal));
    if (request.serviceAccountToken !== undefined) secrets.add(request.serviceAccountToken);
    const image = parseImage(request.image);
    return await providers[name]({
      image,
      request,
      config,
      clock,
      env,
      http: new HttpSender({ clock, env, signal: late.signal }),
      readFile: (path, key) => readSmall(path, key),
      conceal: (secret) => void secrets.add(secret),
    });
  } finally {
    done.abort();
  }
}

async function readConfigFile(path: string, isNamed: boolean): Promise<string | undefined> {
  try {
    return await readSmall(path, '--config');
  } catch (error) {
    const cause = error instanceof Failure ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    if (!isNamed && cause?.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readSmall(path: string, key: string): Promise<string> {
  try {
    // Looked at before: to open a pipe that nobody writes to cannot be ended, and a device has no end.
    const found = await stat(path);
    if (!found.isFile()) throw new Failure('configuration', `${path} is no file (${key})`);
    if (found.size > LONGEST_FILE) throw new Failure('configuration', `${path} is larger than 1 MiB (${key})`);
    return await readFileOf(path, 'utf8');
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code, message } = asError(error) as NodeJS.ErrnoException;
    throw new Failure('configuration', `${path} cannot be read: ${code ?? message} (${key})`, { cause: error });
  }
}

async function readAll(stdin: CommandIo['stdin']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    length += chunk.length;
    if (length > LONGEST_REQUEST) throw new Failure('bad-request', 'stdin has more than 1 MiB');
    chunks.push(Buffer.from(chunk as Uint8Array));
  }
  return Buffer.concat(chunks).toString('utf8');
}

function describe({ cacheBy, cacheForMs, match, username }: Credentials): string {
  return `${match}: user ${username}, kept ${Math.floor(cacheForMs / 1_000)} s by ${cacheBy.toLowerCase()}\n`;
}

/** The last guard: no message is made of a secret, and should one be, it is not printed. */
function oneLine(message: string, secrets: ReadonlySet<string>): string {
  let line = message;
  for (const secret of secrets) if (secret.length >= 4) line = line.replaceAll(secret, '***');
  return line.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 1_000);
}
