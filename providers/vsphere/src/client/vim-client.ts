/** The vim25 API of one vCenter in one session, which all callers share. Entry point: `VimClient.inSession`. */
import { asError, CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import {
  xmlChild,
  xmlText,
  SoapClient,
  tokenCredentials,
  type HttpClient,
  type SoapApi,
  type SoapRequest,
  type XmlElement,
} from '@outrigger/provider-kit';
import type { ManagedObject } from '../inventory/vcenter.ts';
import { isFault, managedObjectIn, objectContents, referenceTo, sessionEnded, VIM } from './soap.ts';

const PARTS = ['rootFolder', 'propertyCollector', 'viewManager', 'sessionManager', 'searchIndex'] as const;

/** Where the parts of the API are: `ServiceInstance.content`. */
export type ServiceContent = Readonly<Record<(typeof PARTS)[number], ManagedObject>>;

/** Opens a session. Resolves to its cookie's value. */
export type SignIn = (content: ServiceContent, call: CallContext) => Promise<string>;

const SERVICE_INSTANCE: ManagedObject = { type: 'ServiceInstance', reference: 'ServiceInstance' };
/** vCenter locks an account for five minutes after five wrong passwords in three minutes: this stays below. */
const REFUSED_FOR_MS = 120_000;
const COOKIE = 'vmware_soap_session';

/** Requests of the API, with the headers of a session or without one. */
export class VimRequests {
  readonly #soap: SoapClient;

  constructor(http: HttpClient) {
    this.#soap = new SoapClient(http);
  }

  /** The whole answer: `<returnval>` and its siblings. */
  async request(
    call: CallContext,
    method: string,
    target: ManagedObject,
    args: XmlElement = {},
    { api = VIM, ...options }: SoapRequest & { readonly api?: SoapApi } = {},
  ): Promise<{ readonly answer: unknown; readonly cookies: string }> {
    const whole = { _this: referenceTo(target), ...args };
    const { answer, header } = await this.#soap.request(call, api, method, whole, options);
    return { answer, cookies: header('set-cookie') ?? '' };
  }

  /** What is written and signed already. Resolves to the cookies. */
  async login(call: CallContext, method: string, body: string): Promise<string> {
    const answer = await this.#soap.send(call, VIM, method, body, { idempotent: false });
    return answer.header('set-cookie') ?? '';
  }

  async content(call: CallContext): Promise<ServiceContent> {
    const { answer } = await this.request(call, 'RetrieveServiceContent', SERVICE_INSTANCE);
    const part = (name: keyof ServiceContent): ManagedObject => {
      const found = managedObjectIn(xmlChild(answer, 'returnval', name));
      if (found) return found;
      throw new CloudError('unsupported', `what answers has no ${name}: it is no vCenter`);
    };
    return Object.fromEntries(PARTS.map((name) => [name, part(name)])) as ServiceContent;
  }
}

/** One session, and the objects that live in it. */
export class VimSession {
  readonly headers: Readonly<Record<string, string>>;
  readonly content: ServiceContent;
  readonly #requests: VimRequests;
  /** Views, collectors and filters by what they are for: they end with the session. */
  readonly #own = new Map<string, ManagedObject>();
  readonly #making = new Map<string, Promise<unknown>>();

  constructor(requests: VimRequests, headers: Readonly<Record<string, string>>, content: ServiceContent) {
    this.#requests = requests;
    this.headers = headers;
    this.content = content;
  }

  async request(
    call: CallContext,
    method: string,
    target: ManagedObject,
    args: XmlElement = {},
    options: Omit<SoapRequest, 'headers'> = {},
  ): Promise<unknown> {
    const { answer } = await this.#requests.request(call, method, target, args, { ...options, headers: this.headers });
    return answer;
  }

  /** Properties of objects, or the first page of them. */
  retrieve(call: CallContext, specSet: XmlElement, options: XmlElement = {}): Promise<unknown> {
    return this.request(call, 'RetrievePropertiesEx', this.content.propertyCollector, { specSet, options });
  }

  /** The session's own object for this purpose: the one that there is, also once it is made for another caller, or what `make` answers with. */
  async own(purpose: string, make: () => Promise<unknown>): Promise<ManagedObject> {
    const kept = this.#own.get(purpose);
    if (kept) return kept;
    const others = this.#making.get(purpose);
    if (others) {
      await others.catch(asError);
      return this.own(purpose, make);
    }
    const making = make();
    this.#making.set(purpose, making);
    try {
      const made = managedObjectIn(xmlChild(await making, 'returnval'));
      if (!made) throw new CloudError('unavailable', `vCenter made no ${purpose}`);
      this.#own.set(purpose, made);
      return made;
    } finally {
      this.#making.delete(purpose);
    }
  }

  disown(purpose: string): void {
    this.#own.delete(purpose);
  }

  /**
   * `about.instanceUuid`, read in one answer with the session that asks. Rejects with NotAuthenticated when there is none any more: what
   * was answered before may have been said to nobody.
   */
  async verify(call: CallContext): Promise<string> {
    const answer = await this.retrieve(call, {
      propSet: [
        { type: 'ServiceInstance', pathSet: 'content.about.instanceUuid' },
        { type: 'SessionManager', pathSet: 'currentSession' },
      ],
      objectSet: [SERVICE_INSTANCE, this.content.sessionManager].map((one) => ({ obj: referenceTo(one) })),
    });
    const values = new Map(objectContents(answer).flatMap(({ properties }) => [...properties]));
    const uuid = xmlText(values.get('content.about.instanceUuid'));
    if (xmlText(xmlChild(values.get('currentSession'), 'key')) === undefined) throw sessionEnded();
    if (uuid === undefined) {
      throw new CloudError('unavailable', 'vCenter does not say its instanceUuid');
    }
    return uuid.toLowerCase();
  }

  /** Whether the error says that the session has ended: an object of its own that is not found any more says it too. */
  isEndedBy(error: unknown): boolean {
    if (isFault(error, 'NotAuthenticated')) return true;
    return (
      isFault(error, 'ManagedObjectNotFound') &&
      [...this.#own.values()].some(({ reference }) => reference === error.detail?.['obj'])
    );
  }
}

export interface VimClientOptions {
  readonly host: Pick<ProviderHost, 'callContext' | 'clock' | 'redact'>;
  readonly requests: VimRequests;
  readonly signIn: SignIn;
}

export class VimClient {
  readonly #requests: VimRequests;
  readonly #credentials: ReturnType<typeof tokenCredentials>;
  #content: ServiceContent | undefined;
  #session: VimSession | undefined;
  #isClosed = false;

  constructor({ host, requests, signIn }: VimClientOptions) {
    this.#requests = requests;
    this.#credentials = tokenCredentials({
      host,
      headers: (value) => ({ cookie: `${COOKIE}=${value}` }),
      refusedForMs: REFUSED_FOR_MS,
      fetch: async (call) => ({ value: await signIn(await this.#parts(call), call) }),
    });
  }

  /**
   * Does the work in the session. Where that has ended, the whole work is done anew in another one, which is opened once for all callers:
   * what a session was asked must not be put together with what its successor answers.
   */
  async inSession<T>(call: CallContext, work: (session: VimSession) => Promise<T>): Promise<T> {
    const first = await this.session(call);
    try {
      return await work(first);
    } catch (error) {
      if (!first.isEndedBy(error)) throw error;
    }
    const second = await this.session(call, first);
    try {
      return await work(second);
    } catch (error) {
      if (!second.isEndedBy(error)) throw error;
      throw new CloudError('unavailable', 'the session with vCenter ended twice during one answer', {
        cause: error,
      });
    }
  }

  /** The session that there is, or a new one. `ended`: not that one. */
  async session(call: CallContext, ended?: VimSession): Promise<VimSession> {
    // Whoever finds the session ended now would open another that nobody ends, perhaps with a password that is no longer right.
    if (this.#isClosed) throw new CloudError('unavailable', 'the connection to vCenter was closed');
    const headers = await this.#credentials(call, ended !== undefined, ended?.headers);
    const content = await this.#parts(call);
    if (this.#session?.headers['cookie'] !== headers['cookie']) {
      this.#session = new VimSession(this.#requests, headers, content);
    }
    return this.#session as VimSession;
  }

  /** They have the same names in each session. */
  async #parts(call: CallContext): Promise<ServiceContent> {
    return (this.#content ??= await this.#requests.content(call));
  }

  /** Logs out, if there is a session. */
  async close(call: CallContext, timeoutMs: number): Promise<void> {
    const session = this.#session;
    this.#isClosed = true;
    this.#session = undefined;
    const options = { idempotent: false, timeoutMs };
    if (session) await session.request(call, 'Logout', session.content.sessionManager, {}, options);
  }
}

/** The value of the session's cookie in `Set-Cookie`. */
export function sessionCookie(cookies: string): string {
  const value = new RegExp(`${COOKIE}=("[^"]*"|[^;,\\s]+)`, 'u').exec(cookies)?.[1];
  if (value !== undefined) return value;
  throw new CloudError('unavailable', 'vCenter accepted the login and returned no session');
}
