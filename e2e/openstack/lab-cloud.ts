/** The lab as one of its users sees it, without anything of the provider between: what seeds it, and what tests hold against. */

/** Where the lab's keystone listens. */
export const LAB_AUTH_URL = 'http://127.0.0.1:15000/v3';

/** A cloud config for the user of the cluster: `[Global]`, and these sections. */
export function labCloudConfig(sections: string, password = 'k8s'): string {
  return `[Global]
auth-url="${LAB_AUTH_URL}"
username=k8s
password="${password}"
tenant-name=k8s
domain-id=default
region=RegionOne

${sections}`;
}

/** Who may do everything, and the user of the cluster, with the least roles: `member`, `reader`, `load-balancer_member`. */
export type LabUser = 'admin' | 'k8s';

export type LabService = 'identity' | 'compute' | 'network' | 'load-balancer' | 'image';

export interface LabRequest {
  readonly body?: unknown;
  /** Of nova. Default: 2.90. */
  readonly microversion?: string;
  /** Statuses from 400 on that are an answer and not an error. Default: none. */
  readonly accept?: readonly number[];
  /** Bytes in place of a JSON body. */
  readonly content?: Uint8Array<ArrayBuffer>;
}

const PORTS: Readonly<Record<LabService, string>> = {
  identity: LAB_AUTH_URL,
  compute: 'http://127.0.0.1:18774/v2.1',
  network: 'http://127.0.0.1:19696/v2.0',
  'load-balancer': 'http://127.0.0.1:19876/v2.0/lbaas',
  image: 'http://127.0.0.1:19292/v2',
};

interface TokenAnswer {
  readonly token: { readonly project: { readonly id: string }; readonly user: { readonly id: string } };
}

export class LabCloud {
  readonly #user: LabUser;
  #token = '';
  #projectId = '';

  /** Each user's password and project are called as the user is. */
  constructor(user: LabUser) {
    this.#user = user;
  }

  /** Of the user's project. */
  async projectId(): Promise<string> {
    if (this.#projectId === '') await this.#signIn();
    return this.#projectId;
  }

  /** The answer's JSON. Throws for a status from 400 on with what was asked and answered. */
  async request<T = Record<string, unknown>>(
    service: LabService,
    method: string,
    path: string,
    request: LabRequest = {},
  ): Promise<T> {
    let response = await this.#send(service, method, path, request);
    if (response.status === 401) {
      await this.#signIn();
      response = await this.#send(service, method, path, request);
    }
    const text = await response.text();
    if (response.status >= 400 && request.accept?.includes(response.status) !== true) {
      throw new Error(`${this.#user}: ${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    }
    return (text === '' ? {} : JSON.parse(text)) as T;
  }

  /** What a list holds. The lab's lists have one page. */
  async list<T = Record<string, unknown>>(service: LabService, path: string): Promise<readonly T[]> {
    const answer = await this.request<Record<string, readonly T[]>>(service, 'GET', path);
    const [items] = Object.values(answer).filter((value) => Array.isArray(value));
    if (!items) throw new Error(`${path} is not a list: ${JSON.stringify(answer).slice(0, 200)}`);
    return items;
  }

  async #send(
    service: LabService,
    method: string,
    path: string,
    { body, content, microversion = '2.90' }: LabRequest,
  ): Promise<Response> {
    if (this.#token === '') await this.#signIn();
    return fetch(PORTS[service] + path, {
      method,
      headers: {
        accept: 'application/json',
        // Services close what has been idle; on a busy machine that meets the next request.
        connection: 'close',
        'x-auth-token': this.#token,
        'content-type': content ? 'application/octet-stream' : 'application/json',
        ...(service === 'compute' ? { 'openstack-api-version': `compute ${microversion}` } : {}),
      },
      ...(content ? { body: content } : body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async #signIn(): Promise<void> {
    const domain = { id: 'default' };
    const response = await fetch(`${LAB_AUTH_URL}/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        auth: {
          identity: {
            methods: ['password'],
            password: { user: { name: this.#user, domain, password: this.#user } },
          },
          scope: { project: { name: this.#user, domain } },
        },
      }),
    });
    if (!response.ok) throw new Error(`${this.#user} cannot sign in: ${response.status} ${await response.text()}`);
    const { token } = (await response.json()) as TokenAnswer;
    this.#projectId = token.project.id;
    this.#token = response.headers.get('x-subject-token') ?? '';
  }
}
