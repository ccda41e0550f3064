/** Credentials from an agent beside the container: ECS and EKS Pod Identity. */
import { CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { HttpClient, type BodyFormat, type Fetch } from '@outrigger/provider-kit';
import { readFile } from 'node:fs/promises';
import type { AwsCredentials } from '../sign-request.ts';
import { credentialsIn } from './credential-document.ts';

export interface ContainerCredentialsOptions {
  readonly host: Pick<ProviderHost, 'clock' | 'redact'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch?: Fetch | undefined;
}

const ECS = 'http://169.254.170.2';
/** Who may be asked without TLS: this machine, and the agents of ECS and of EKS. */
const PLAIN_HOSTS: ReadonlySet<string> = new Set([
  'localhost',
  '127.0.0.1',
  '[::1]',
  '169.254.170.2',
  '169.254.170.23',
  '[fd00:ec2::23]',
]);

const plain: BodyFormat = { mediaType: 'application/json', write: String, read: (text) => text };

export class ContainerCredentials implements AsyncDisposable {
  readonly #options: ContainerCredentialsOptions;
  readonly #url: string | undefined;
  #http: HttpClient | undefined;

  constructor(options: ContainerCredentialsOptions) {
    this.#options = options;
    const { AWS_CONTAINER_CREDENTIALS_FULL_URI: full, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative } = options.env;
    this.#url = relative ? `${ECS}${relative}` : full || undefined;
  }

  /** Whether the environment names an agent. */
  get isSetUp(): boolean {
    return this.#url !== undefined;
  }

  /** The token of the agent is read again each time: kubelet changes it. */
  async get(call: CallContext): Promise<AwsCredentials> {
    const url = URL.parse(this.#url ?? '');
    if (!url || (url.protocol !== 'https:' && !(url.protocol === 'http:' && PLAIN_HOSTS.has(url.hostname)))) {
      throw new CloudError(
        'configuration',
        `AWS_CONTAINER_CREDENTIALS_FULL_URI is ${JSON.stringify(this.#url)}: it must be https, or the address of an agent on this machine`,
      );
    }
    const { fetch, host } = this.#options;
    this.#http ??= new HttpClient({
      host,
      cloud: "the container's credential agent",
      root: url.origin,
      fetch,
      format: plain,
      requestTimeoutMs: 5_000,
    });
    const token = await this.#token();
    if (token !== undefined) host.redact(token, { rotating: true });
    const text = await this.#http.request<string>(call, 'GET /{+path}', {
      params: { path: url.pathname },
      query: Object.fromEntries(url.searchParams),
      headers: token === undefined ? {} : { authorization: token },
      name: 'GET container credentials',
      bucket: 'metadata',
    });
    return credentialsIn(text, "the container's agent");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http?.[Symbol.asyncDispose]();
  }

  async #token(): Promise<string | undefined> {
    const { AWS_CONTAINER_AUTHORIZATION_TOKEN: token, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file } =
      this.#options.env;
    const found = file ? (await readFile(file, 'utf8')).trim() : token;
    if (found !== undefined && /[\r\n]/u.test(found))
      throw new CloudError('configuration', `the token of the container's agent has line breaks in it`);
    return found;
  }
}
