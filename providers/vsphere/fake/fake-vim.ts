/**
 * A vCenter in memory, as far as its client is concerned: sessions, views, pages, updates and tags, with the traps of a session that has
 * ended. Of its own making: what it answers has the shape of what the simulator answers, and proves nothing of a real one.
 */
import type { Clock } from '@outrigger/cloud-provider';
import type { Fetch } from '@outrigger/provider-kit';

export interface FakeMachine {
  readonly name: string;
  readonly uuid?: string;
  readonly power?: string;
  /** Faults of properties by path. */
  readonly missing?: Readonly<Record<string, string>>;
  /** More properties, as XML within `<val>`. */
  readonly more?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status?: number;
  readonly text: string;
  readonly cookie?: string;
}

interface Asked {
  readonly body: string;
  readonly session: FakeSession | undefined;
  readonly signal: AbortSignal;
}

interface FakeSession {
  readonly id: string;
  readonly own: Set<string>;
}

const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
const PARTS = {
  rootFolder: 'Folder',
  propertyCollector: 'PropertyCollector',
  viewManager: 'ViewManager',
  searchIndex: 'SearchIndex',
  sessionManager: 'SessionManager',
};

export class FakeVim {
  readonly machines: Map<string, FakeMachine> = new Map();
  /** Tags by reference of the object: their IDs. */
  readonly attached: Map<string, readonly string[]> = new Map();
  /** `[name, category]` by ID of the tag. */
  readonly tags: Map<string, readonly [string, string]> = new Map();
  password = 'pass';
  identity = 'AAAAAAAA-0000-0000-0000-00000000000a';
  /** Methods and REST paths, in the order of asking. */
  readonly asked: string[] = [];
  readonly headers: Readonly<Record<string, string>>[] = [];
  readonly bodies: string[] = [];
  /** Asked before each answer; what it gives is answered in place of the usual. */
  before: (method: string, body: string) => Answer | undefined | void = () => undefined;
  /** Whether nothing is answered. */
  isSilent = false;
  /** Whether single keys of the extra configuration are refused. */
  refusesKeys = false;
  /** At most so many objects of a page. */
  mostObjects: number = Infinity;
  restSessions: Set<string> = new Set();
  /** A connection that says nothing for so many seconds is cut by what lies between. */
  longestSilence: number = Infinity;
  readonly #sessions = new Map<string, FakeSession>();
  readonly #pages = new Map<string, string[]>();
  #updates: { reference: string; kind: string }[] = [];
  #wake: (() => void) | undefined;
  #count = 0;

  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** All that are open end, as when an administrator ends them. */
  endSessions(): void {
    this.#sessions.clear();
    this.restSessions.clear();
  }

  change(reference: string, kind: 'enter' | 'modify' | 'leave'): void {
    this.#updates.push({ reference, kind });
    this.#wake?.();
  }

  readonly fetch: Fetch = async (url, { body, headers, method, signal }) => {
    signal.throwIfAborted();
    if (this.isSilent) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    this.headers.push(headers);
    this.bodies.push(body ?? '');
    const { pathname, search } = new URL(url);
    const {
      cookie,
      status = 200,
      text,
    } = pathname === '/sdk'
      ? await this.#soap(body ?? '', headers, signal)
      : this.#rest(`${method} ${pathname}${search}`, body ?? '', headers);
    const given = new Map(cookie === undefined ? [] : [['set-cookie', cookie]]);
    return { status, headers: { get: (name) => given.get(name) ?? null }, text: async () => text };
  };

  async #soap(body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    const method = /<(?:soapenv|soap):Body[^>]*><(\w+)/u.exec(body)?.[1] ?? '';
    this.asked.push(method);
    const other = this.before(method, body);
    if (other) return other;
    const session = this.#sessions.get(/vmware_soap_session="(.*)"/u.exec(headers['cookie'] ?? '')?.[1] ?? '');
    const asked = { body, session, signal };
    switch (method) {
      case 'RetrieveServiceContent':
        return answer(
          method,
          `<returnval>${Object.entries(PARTS)
            .map(([name, type]) => `<${name} type="${type}">${name}</${name}>`)
            .join('')}</returnval>`,
        );
      case 'Login':
        return session || !body.includes(`<password>${this.password}</password>`)
          ? fault('InvalidLogin')
          : this.#login(method);
      case 'LoginByToken':
      case 'CloneSession':
        return this.#login(method);
      case 'RetrievePropertiesEx':
        return this.#retrieve(asked);
      default:
        return session ? this.#inSession(method, { ...asked, session }) : fault('NotAuthenticated');
    }
  }

  #login(method: string): Answer {
    const id = `session-${++this.#count}`;
    this.#sessions.set(id, { id, own: new Set() });
    return {
      ...answer(method, '<returnval><key>k</key></returnval>'),
      cookie: `vmware_soap_session="${id}"; Path=/; HttpOnly; Secure`,
    };
  }

  async #inSession(method: string, asked: Asked & { readonly session: FakeSession }): Promise<Answer> {
    const { body, session, signal } = asked;
    switch (method) {
      case 'CreateContainerView':
        return this.#make(method, session, 'ContainerView');
      case 'CreatePropertyCollector':
        return this.#make(method, session, 'PropertyCollector');
      case 'CreateFilter':
        return this.#make(method, session, 'PropertyFilter');
      case 'ContinueRetrievePropertiesEx': {
        const token = /<token>(.*)<\/token>/u.exec(body)?.[1] ?? '';
        const objects = this.#pages.get(token);
        this.#pages.delete(token);
        return objects ? this.#page(method, objects) : fault('InvalidProperty', '<name>token</name>');
      }
      case 'FindAllByUuid': {
        const uuid = /<uuid>(.*)<\/uuid>/u.exec(body)?.[1];
        const found = [...this.machines].filter((one) => one[1].uuid === uuid);
        return answer(
          method,
          found.map(([reference]) => `<returnval type="VirtualMachine">${reference}</returnval>`).join(''),
        );
      }
      case 'WaitForUpdatesEx': {
        const [version, seconds] = [/<version>(.*)<\/version>/u, /<maxWaitSeconds>(.*)<\/maxWaitSeconds>/u].map(
          (one) => one.exec(body)?.[1],
        );
        if (version === undefined)
          return answer(method, '<returnval><version>1</version><truncated>true</truncated></returnval>');
        if (this.#updates.length === 0 && seconds !== '0') await this.#changed(Number(seconds), signal);
        const updates = this.#updates;
        this.#updates = [];
        const objects = updates.map(
          ({ kind, reference }) =>
            `<objectSet><kind>${kind}</kind><obj type="VirtualMachine">${reference}</obj></objectSet>`,
        );
        return answer(
          method,
          `<returnval><version>${Number(version) + 1}</version><filterSet>${objects.join('')}</filterSet></returnval>`,
        );
      }
      case 'Logout':
        this.#sessions.delete(session.id);
        return answer(method, '');
      default:
        return answer(method, '');
    }
  }

  #make(method: string, session: FakeSession, type: string): Answer {
    const reference = `session[${session.id}]${++this.#count}`;
    session.own.add(reference);
    return answer(method, `<returnval type="${type}">${reference}</returnval>`);
  }

  #retrieve({ body, session }: Asked): Answer {
    const method = 'RetrievePropertiesEx';
    const paths = [...body.matchAll(/<pathSet>(.*?)<\/pathSet>/gu)]
      .map((one) => one[1] ?? '')
      .map((one) => one.replaceAll('&quot;', '"'));
    if (this.refusesKeys && paths.some((one) => one.includes('['))) {
      return fault('InvalidProperty', `<name>${paths.find((one) => one.includes('['))}</name>`);
    }
    const objects: string[] = [];
    for (const [, type = '', reference = ''] of body.matchAll(/<obj type="(\w+)">(.*?)<\/obj>/gu)) {
      if (type === 'ServiceInstance' && session) {
        objects.push(object(type, reference, [['content.about.instanceUuid', this.identity]]));
      } else if (type === 'SessionManager') {
        objects.push(object(type, reference, session ? [['currentSession', '<key>k</key>']] : []));
      } else if (type === 'ContainerView') {
        if (!session?.own.has(reference))
          return fault('ManagedObjectNotFound', `<obj type="${type}">${reference}</obj>`);
        for (const one of this.machines.keys()) objects.push(this.#machine(one, paths, session));
      } else if (type === 'VirtualMachine') {
        if (!this.machines.has(reference))
          return fault('ManagedObjectNotFound', `<obj type="${type}">${reference}</obj>`);
        objects.push(this.#machine(reference, paths, session));
      }
    }
    const most = Math.min(this.mostObjects, Number(/<maxObjects>(\d+)/u.exec(body)?.[1] ?? Infinity));
    return this.#page(method, objects, most);
  }

  #page(method: string, objects: string[], most: number = this.mostObjects): Answer {
    const token = `page-${++this.#count}`;
    if (objects.length > most) this.#pages.set(token, objects.slice(most));
    return answer(
      method,
      `<returnval>${objects.length > most ? `<token>${token}</token>` : ''}${objects.slice(0, most).join('')}</returnval>`,
    );
  }

  #machine(reference: string, paths: readonly string[], session: FakeSession | undefined): string {
    const { missing = {}, more = {}, name, power = 'poweredOn', uuid } = this.machines.get(reference) as FakeMachine;
    const values: Readonly<Record<string, string | undefined>> = {
      name,
      'config.uuid': uuid,
      'runtime.powerState': power,
      'runtime.connectionState': 'connected',
      ...more,
    };
    const given = paths.flatMap((path): [string, string][] => {
      const value = values[path];
      return value === undefined || missing[path] !== undefined ? [] : [[path, value]];
    });
    if (!session)
      return object(
        'VirtualMachine',
        reference,
        [],
        Object.fromEntries(paths.map((path) => [path, 'NotAuthenticated'])),
      );
    return object('VirtualMachine', reference, given, missing);
  }

  async #changed(seconds: number, signal: AbortSignal): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#wake = woken.resolve;
    const done = new AbortController();
    try {
      const most = Math.min(seconds, this.longestSilence);
      const silence = this.#clock.sleep(most * 1000, AbortSignal.any([signal, done.signal])).then(() => {
        if (most < seconds) throw new Error('other side closed');
      });
      await Promise.race([woken.promise, silence]);
    } finally {
      done.abort();
    }
  }

  #rest(operation: string, body: string, headers: Readonly<Record<string, string>>): Answer {
    this.asked.push(operation);
    const other = this.before(operation, body);
    if (other) return other;
    const path = operation.replace('/rest/com/vmware/cis', '');
    if (path === operation) return { status: 404, text: '' };
    if (path === 'POST /session') {
      if (headers['authorization'] !== `Basic ${Buffer.from(`user:${this.password}`).toString('base64')}`)
        return { status: 401, text: '' };
      const id = `rest-${++this.#count}`;
      this.restSessions.add(id);
      return value(id);
    }
    const id = headers['vmware-api-session-id'] ?? '';
    if (!this.restSessions.has(id)) return { status: 401, text: '' };
    if (path === 'DELETE /session') {
      this.restSessions.delete(id);
      return value('');
    }
    const [, kind, what = ''] = /^GET \/tagging\/(tag|category)\/id:(.*)$/u.exec(decodeURIComponent(path)) ?? [];
    const tag = this.tags.get(what);
    if (kind === 'tag')
      return tag
        ? value({ id: what, name: tag[0], category_id: `category:${tag[1]}` })
        : { status: 404, text: '{"type":"com.vmware.vapi.std.errors.not_found"}' };
    if (kind === 'category') return value({ id: what, name: what.replace('category:', '') });
    const { object_ids: objects } = JSON.parse(body) as { readonly object_ids: readonly { readonly id: string }[] };
    return value(objects.map((one) => ({ object_id: one, tag_ids: this.attached.get(one.id) ?? null })));
  }
}

/** `detail`: XML within the fault. */
export function fault(name: string, detail = ''): Answer {
  return {
    status: 500,
    text:
      `<soapenv:Envelope ${XSI} xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><soapenv:Fault>` +
      `<faultcode>ServerFaultCode</faultcode><faultstring>it was ${name}</faultstring><detail><${name}Fault xmlns="urn:vim25" xsi:type="${name}">` +
      `${detail}</${name}Fault></detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>`,
  };
}

export function answer(method: string, inner: string): Answer {
  return {
    text:
      `<?xml version="1.0"?><soapenv:Envelope ${XSI} xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>` +
      `<${method}Response xmlns="urn:vim25">${inner}</${method}Response></soapenv:Body></soapenv:Envelope>`,
  };
}

export function object(
  type: string,
  reference: string,
  values: readonly (readonly [string, string])[],
  missing: Readonly<Record<string, string>> = {},
): string {
  const given = values.map(
    ([path, inner]) => `<propSet><name>${path}</name><val xsi:type="x">${inner}</val></propSet>`,
  );
  const withheld = Object.entries(missing).map(
    ([path, name]) =>
      `<missingSet><path>${path}</path><fault><fault xsi:type="${name}"/><localizedMessage/></fault></missingSet>`,
  );
  return `<objects><obj type="${type}">${reference}</obj>${given.join('')}${withheld.join('')}</objects>`;
}

function value(given: unknown): Answer {
  return { text: JSON.stringify({ value: given }) };
}
