/** A `Vcenter` by its vim25 and REST APIs. Entry point: `openVcenter`. */
import { readFileSync } from 'node:fs';
import { asError, CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import {
  xmlChildren,
  HttpClient,
  soapError,
  soapFormat,
  type Fetch,
  type HttpClientOptions,
  type Proxies,
} from '@outrigger/provider-kit';
import { checkKeyPair, signedAuthorization } from '../client/saml-token.ts';
import { signInWith, tokenIssuer, type IssueToken, type VcenterCredentials } from '../client/sign-in.ts';
import {
  isFault,
  managedObjectIn,
  referenceTo,
  signedFormat,
  soapErrors,
  objectContents,
  type ObjectContent,
} from '../client/soap.ts';
import { TagClient } from '../client/tag-client.ts';
import { VimClient, VimRequests, type VimSession } from '../client/vim-client.ts';
import { followMachines } from './follow-machines.ts';
import { KnownIdentities } from './known-identities.ts';
import { GUEST_INFO_PATHS, MACHINE, MACHINE_PATHS, virtualMachine, WHOLE_EXTRA_CONFIG } from './machine-properties.ts';
import { datacentersIn, SURROUNDINGS_SPECS, surroundingsIn } from './surroundings.ts';
import type { InventoryChange, InventoryObject, ListOptions, MachineList, Vcenter } from './vcenter.ts';
import { readView, viewOf } from './views.ts';
import type { VirtualMachine } from './virtual-machine.ts';

/** How a vCenter is reached. */
export interface VcenterConnection {
  /** Name or address, without scheme and port. */
  readonly server: string;
  readonly port: number;
  readonly credentials: VcenterCredentials;
  /** No certificate is checked. */
  readonly insecure: boolean;
  /** Path of a PEM file with authorities that count in place of the system's; it is read once. */
  readonly caFile?: string | undefined;
  /** SHA-1 or SHA-256: the certificate with it alone is accepted, whoever issued it. */
  readonly thumbprint?: string | undefined;
}

export interface OpenVcenterOptions {
  readonly host: Pick<ProviderHost, 'callContext' | 'clock' | 'logger' | 'redact'>;
  readonly settings: VcenterConnection;
  /** Default: none. `proxiesOf(process.env)` takes those of the environment. */
  readonly proxies?: Proxies | undefined;
  /** Default: none is said. */
  readonly userAgent?: string | undefined;
  /** Sends in place of connections, for tests. */
  readonly fetch?: Fetch | undefined;
}

/** A page of machines is about 0.7 MB then, which is read in one go. */
const PAGE = 250;
const REQUEST_TIMEOUT_MS = 60_000;
const LOGOUT_WITHIN_MS = 5_000;

/** Asks nothing yet. Throws `configuration` for a CA file that cannot be read, and a certificate and a key that serve for no login. */
export function openVcenter(options: OpenVcenterOptions): Vcenter {
  return new OpenVcenter(options);
}

class OpenVcenter implements Vcenter {
  readonly address: string;
  readonly #options: OpenVcenterOptions;
  readonly #http: HttpClient;
  readonly #tokens: HttpClient;
  readonly #tickets: HttpClient | undefined;
  readonly #issue: IssueToken;
  readonly #vim: VimClient;
  readonly #tags: TagClient;
  /** Whether vCenter gives single keys of the extra configuration. */
  #takesKeys = true;
  readonly #identities = new KnownIdentities();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(options: OpenVcenterOptions) {
    const { fetch, host, proxies, settings, userAgent } = options;
    const { caFile, credentials, insecure, port, server, thumbprint } = settings;
    if (credentials.kind === 'certificate') checkKeyPair(credentials);
    this.#options = options;
    const name = server.includes(':') && !server.startsWith('[') ? `[${server}]` : server;
    this.address = port === 443 ? name : `${name}:${port}`;
    const authorities = {
      ...(caFile !== undefined && caFile !== '' && { ca: authoritiesIn(caFile) }),
      ...(insecure && { rejectUnauthorized: false }),
    };
    const common: HttpClientOptions = {
      host,
      cloud: `vCenter ${this.address}`,
      root: `https://${this.address}`,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      secrets: secretsOf(credentials),
      tls: thumbprint === undefined || thumbprint === '' ? authorities : { thumbprint },
      proxies,
      fetch,
      ...(userAgent !== undefined && { headers: { 'user-agent': userAgent } }),
    };
    const soap = { ...common, errorOf: soapError, errors: soapErrors };
    this.#http = new HttpClient({ ...soap, format: soapFormat });
    this.#tokens = new HttpClient({ ...soap, format: signedFormat });
    if (credentials.kind === 'session-manager') {
      this.#tickets = new HttpClient({
        ...common,
        cloud: 'the session manager',
        root: new URL(credentials.url).origin,
        // The thumbprint is vCenter's.
        tls: authorities,
        headers: { authorization: `Bearer ${credentials.token}` },
      });
    }
    const vim = new VimRequests(this.#http);
    this.#issue = tokenIssuer({ host, vim, http: this.#tokens });
    const signIn = signInWith({ credentials, host, vim, issue: this.#issue, tickets: this.#tickets });
    this.#vim = new VimClient({ host, requests: vim, signIn });
    this.#tags = new TagClient({ host, http: common, authorization: (path, call) => this.#authorization(path, call) });
  }

  async identify(call: CallContext): Promise<string> {
    return this.#vim.inSession(call, (session) => this.#verify(session, call));
  }

  async machines(
    call: CallContext,
    { datacenters = [], surroundings = false }: ListOptions = {},
  ): Promise<MachineList> {
    return this.#vim.inSession(call, (session) =>
      this.#withPaths(async (paths) => {
        const { rootFolder } = session.content;
        // Datacenters are found by what is around them; without any, all comes with the machines.
        const around = datacenters.length > 0 ? await this.#surroundings(session, call) : undefined;
        const containers = around ? datacentersIn(around, datacenters, this.address) : [rootFolder];
        const of = surroundings && !around ? { ...SURROUNDINGS_SPECS, also: rootFolder } : { specs: [] };
        const what = { ...of, specs: [{ type: MACHINE, paths }, ...of.specs], pageSize: PAGE };
        const machines: VirtualMachine[] = [];
        const withheld: { reference: string; fault: string }[] = [];
        const others: ObjectContent[] = [];
        for (const container of containers) {
          const view = await viewOf(session, call, container);
          for await (const page of readView(session, call, view, what)) {
            for (const content of page) {
              const fault = faultOf(content);
              if (content.type !== MACHINE) others.push(content);
              else if (fault === undefined) machines.push(virtualMachine(content));
              else withheld.push({ reference: content.reference, fault });
            }
          }
        }
        return { machines, withheld, ...(surroundings && { surroundings: around ?? surroundingsIn(others) }) };
      }),
    );
  }

  async findByUuid(uuid: string, call: CallContext): Promise<readonly string[]> {
    return this.#vim.inSession(call, async (session) => {
      const answer = await session.request(call, 'FindAllByUuid', session.content.searchIndex, {
        uuid,
        vmSearch: true,
        instanceUuid: false,
      });
      const found = xmlChildren(answer, 'returnval').flatMap((one) => managedObjectIn(one)?.reference ?? []);
      // Nothing was found, or nobody asked any more.
      if (found.length === 0) await this.#verify(session, call);
      return found;
    });
  }

  async machine(reference: string, call: CallContext): Promise<VirtualMachine | 'gone'> {
    return this.#vim.inSession(call, async (session) => {
      let contents: readonly ObjectContent[];
      try {
        contents = await this.#withPaths(async (paths) =>
          objectContents(
            await session.retrieve(call, {
              propSet: { type: MACHINE, pathSet: paths },
              objectSet: { obj: referenceTo({ type: MACHINE, reference }) },
            }),
          ),
        );
      } catch (error) {
        if (!isFault(error, 'ManagedObjectNotFound') || error.detail?.['obj'] !== reference) throw error;
        await this.#verify(session, call);
        return 'gone';
      }
      const content = contents.find((one) => one.reference === reference);
      if (!content) throw this.#inconclusive(`${reference} was not in the answer that was about it`);
      const fault = faultOf(content);
      if (fault === undefined) return virtualMachine(content);
      if (fault !== 'NoPermission') throw this.#inconclusive(`${reference} could not be read: ${fault}`);
      throw new CloudError('forbidden', `vCenter ${this.address}: ${reference} may not be read (NoPermission)`);
    });
  }

  async surroundings(call: CallContext): Promise<ReadonlyMap<string, InventoryObject>> {
    return this.#vim.inSession(call, (session) => this.#surroundings(session, call));
  }

  tags(...asked: Parameters<TagClient['attached']>): ReturnType<TagClient['attached']> {
    return this.#tags.attached(...asked);
  }

  changes(call: CallContext, onFollowing?: () => void): AsyncIterable<InventoryChange> {
    // A wait would hold up the end for long.
    const { signal } = this.#closed;
    const until: CallContext = {
      ...call,
      signal: AbortSignal.any([call.signal, signal]),
      call: (operation, send) => call.call(operation, (sent) => send(AbortSignal.any([sent, signal]))),
    };
    return followMachines(this.#vim, until, this.#options.host, onFollowing);
  }

  /** With each answer that speaks against a machine: an address that leads to one vCenter now and to another then proves nothing. */
  async #verify(session: VimSession, call: CallContext): Promise<string> {
    const identity = await session.verify(call);
    this.#identities.admit(this.address, identity);
    return identity;
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** By requests of its own: those of the host have ended by then, and these end nothing but what is held here. */
  async #close(): Promise<void> {
    this.#closed.abort(new CloudError('unavailable', `the connection to vCenter ${this.address} was closed`));
    const { logger } = this.#options.host;
    const { signal } = new AbortController();
    const call: CallContext = { signal, logger, priority: 'critical', call: (_operation, send) => send(signal) };
    const ends = await Promise.allSettled([
      this.#vim.close(call, LOGOUT_WITHIN_MS),
      this.#tags.close(call, LOGOUT_WITHIN_MS),
    ]);
    for (const end of ends) {
      // A session that is left ends by itself after half an hour.
      if (end.status === 'rejected')
        logger.verbose(2, 'Logout failed on a vCenter', { address: this.address, error: end.reason as unknown });
    }
    for (const client of [this.#http, this.#tokens, this.#tickets, this.#tags]) await client?.[Symbol.asyncDispose]();
  }

  /** All paths by key at first; where vCenter takes no keys, the whole extra configuration in their place. */
  async #withPaths<T>(read: (paths: readonly string[]) => Promise<T>): Promise<T> {
    if (this.#takesKeys) {
      try {
        return await read([...MACHINE_PATHS, ...GUEST_INFO_PATHS]);
      } catch (error) {
        if (!isFault(error, 'InvalidProperty') || !/extraConfig/u.test(error.detail?.['name'] ?? '')) throw error;
        this.#takesKeys = false;
      }
    }
    return read([...MACHINE_PATHS, WHOLE_EXTRA_CONFIG]);
  }

  async #surroundings(session: VimSession, call: CallContext): Promise<ReadonlyMap<string, InventoryObject>> {
    const { rootFolder } = session.content;
    const view = await viewOf(session, call, rootFolder);
    const contents: ObjectContent[] = [];
    for await (const page of readView(session, call, view, { ...SURROUNDINGS_SPECS, also: rootFolder }))
      contents.push(...page);
    return surroundingsIn(contents);
  }

  /** A wrong password is to be heard of by the other login first: both count when an account is locked. */
  async #authorization(path: string, call: CallContext): Promise<string> {
    const { host, settings } = this.#options;
    const { credentials } = settings;
    await this.#vim.session(call);
    if (credentials.kind === 'session-manager') {
      throw new CloudError(
        'unsupported',
        `vCenter ${this.address}: a session manager gives no session of the REST API, where tags are; configure user and password`,
      );
    }
    if (credentials.kind === 'user') {
      const pair = Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64');
      host.redact(pair);
      return `Basic ${pair}`;
    }
    const request = { method: 'POST', url: `https://${this.address}${path}`, headers: {} } as const;
    return signedAuthorization(await this.#issue(credentials, call), credentials, request, host.clock.now());
  }

  #inconclusive(what: string): CloudError {
    return new CloudError('unavailable', `vCenter ${this.address}: ${what}; nothing is concluded from it`);
  }
}

/** Why the object is not known in full. */
function faultOf({ missing }: ObjectContent): string | undefined {
  const faults = [...missing].filter(([path, fault]) => fault !== 'InvalidProperty' || !path.includes('extraConfig'));
  const names = faults.map(([, fault]) => fault);
  return names.includes('NoPermission') ? 'NoPermission' : names[0];
}

function secretsOf(credentials: VcenterCredentials): readonly string[] {
  if (credentials.kind === 'user') return [credentials.password];
  return [credentials.kind === 'certificate' ? credentials.privateKey : credentials.token];
}

function authoritiesIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CloudError('configuration', `the CA file of a vCenter cannot be read: ${asError(error).message}`);
  }
}
