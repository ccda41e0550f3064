/** A vCenter for tests: govmomi's simulator as a process of its own, and what can be done to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { buildSimulator } from './build.ts';

export interface LabOptions {
  /** Its machines are `<name>-0`, `<name>-1` …; no two vCenters of a test have the same. Default: `a`. */
  readonly name?: string;
  /** Default: 1. */
  readonly datacenters?: number;
  /** Of each datacenter. Default: 1. */
  readonly clusters?: number;
  /** Of each cluster. Default: 3. */
  readonly hosts?: number;
  /** Machines of each cluster, which run. Default: 3. */
  readonly machines?: number;
  /** How many of the datacenters are in a folder, their hosts and machines too. Default: 0. */
  readonly folders?: number;
  /** `127.0.0.1:<port>`. Default: a free one. */
  readonly listen?: string;
}

/** What the simulator says when it listens. */
interface Ready {
  readonly port: string;
  readonly control: string;
  readonly instanceUuid: string;
  readonly certificate: string;
  readonly sha1: string;
  readonly sha256: string;
}

export interface LabMachine {
  /** `vm-42`. */
  readonly reference: string;
  readonly name: string;
  readonly biosUuid: string;
  readonly instanceUuid: string;
  readonly address: string;
  readonly host: string;
  readonly pool: string;
  readonly parent: string;
}

export interface LabObject {
  readonly type: 'HostSystem' | 'ClusterComputeResource' | 'Datacenter' | 'Folder' | 'ResourcePool' | 'VirtualMachine';
  readonly reference: string;
  readonly name: string;
  readonly parent: string;
}

export interface LabNic {
  readonly network: string;
  readonly macAddress?: string;
  /** Default: 4000. -1: no device of the machine. */
  readonly deviceConfigId?: number;
  /** Default: true. */
  readonly connected?: boolean;
  readonly addresses: readonly { readonly address: string; readonly prefixLength: number }[];
}

export interface LabGuest {
  readonly hostName: string;
  readonly ipAddress: string;
  readonly nics: readonly LabNic[];
}

export interface LabHardware {
  /** BIOS UUID. */
  readonly uuid?: string;
  readonly cpus?: number;
  readonly memoryMB?: number;
  /** `ubuntu64Guest`. */
  readonly guestId?: string;
  readonly guestFullName?: string;
  readonly extraConfig?: Readonly<Record<string, string>>;
}

/** What is done to some requests, on the wire. */
export interface WireRule {
  /** A SOAP method, or the beginning of `POST /rest/…`. `*`: every request. */
  readonly method: string;
  /** So many are let through first. */
  readonly skip?: number;
  /** How many times. Default: until the rules are set anew. */
  readonly count?: number;
  /** The connection ends without an answer. */
  readonly cut?: boolean;
  /** What was asked is done, and the answer is lost. */
  readonly lose?: boolean;
  readonly status?: number;
  readonly delayMs?: number;
  /** Every session of every client ends before it is handled. */
  readonly killSessions?: boolean;
}

/** A fault by the simulator's own rules. */
export interface SoapFault {
  /** `RetrievePropertiesEx`; `*`. */
  readonly method: string;
  /** Of the object that is asked: `SearchIndex`. Default: every one. */
  readonly type?: string;
  readonly fault:
    | 'NotAuthenticated'
    | 'NoPermission'
    | 'ManagedObjectNotFound'
    | 'InvalidArgument'
    | 'Timeout'
    | 'Network'
    | 'Generic';
  readonly skip?: number;
  readonly count?: number;
  /** Of 1. Default: 1. */
  readonly probability?: number;
}

export interface LabCall {
  /** `RetrievePropertiesEx`, `POST /rest/com/vmware/cis/session`. */
  readonly method: string;
  /** The client's `User-Agent`. */
  readonly agent: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Of the answer. */
  readonly bytes: number;
}

export class LabVcenter implements AsyncDisposable {
  readonly name: string;
  readonly port: number;
  readonly instanceUuid: string;
  /** In PEM; valid for 127.0.0.1. */
  readonly certificate: string;
  readonly sha1: string;
  readonly sha256: string;
  readonly user = 'user';
  readonly password = 'pass';
  readonly pid: number | undefined;
  readonly #control: string;
  readonly #end: () => Promise<void>;

  private constructor(name: string, pid: number | undefined, ready: Ready, end: () => Promise<void>) {
    this.name = name;
    this.pid = pid;
    this.port = Number(ready.port);
    this.instanceUuid = ready.instanceUuid;
    this.certificate = ready.certificate;
    this.sha1 = ready.sha1;
    this.sha256 = ready.sha256;
    this.#control = ready.control;
    this.#end = end;
  }

  /** The simulator is built first if it is not in the cache. It ends with this process, however that ends. */
  static async start(options: LabOptions = {}): Promise<LabVcenter> {
    const { name = 'a', ...shape } = options;
    const flags = Object.entries(shape).map(([key, value]) => `-${key}=${value}`);
    const child = spawn(await buildSimulator(), [`-name=${name}`, ...flags], { stdio: ['pipe', 'pipe', 'pipe'] });
    let told = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (told = (told + text).slice(-2_000)));
    const ended = once(child, 'exit');
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
    if (!first) throw new Error(`the simulator of vCenter ${name} ended before it listened: ${told}`);
    const end = async (): Promise<void> => {
      child.stdin.end();
      await ended;
    };
    return new LabVcenter(name, child.pid, JSON.parse(String(first[0])) as Ready, end);
  }

  async #do<T>(what: string, input: object = {}): Promise<T> {
    const response = await fetch(`${this.#control}/${what}`, { method: 'POST', body: JSON.stringify(input) });
    const text = await response.text();
    if (!response.ok) throw new Error(`vCenter ${this.name}: ${text.trim()}`);
    return JSON.parse(text) as T;
  }

  /** By their numbers in `vm-42`. */
  async machines(): Promise<readonly LabMachine[]> {
    const machines = await this.#do<readonly LabMachine[]>('machines');
    return machines.toSorted((a, b) => a.reference.localeCompare(b.reference, 'en', { numeric: true }));
  }

  /** Throws when there is none of that name. */
  async machine(name: string): Promise<LabMachine> {
    const found = (await this.machines()).find((machine) => machine.name === name);
    if (!found) throw new Error(`vCenter ${this.name} has no machine ${name}`);
    return found;
  }

  /** Hosts, clusters, datacenters, folders and resource pools. */
  async objects(type?: LabObject['type']): Promise<readonly LabObject[]> {
    const objects = await this.#do<readonly LabObject[]>('objects');
    return objects
      .filter((object) => type === undefined || object.type === type)
      .toSorted((a, b) => a.reference.localeCompare(b.reference, 'en', { numeric: true }));
  }

  async setGuest(machine: string, guest: LabGuest): Promise<void> {
    const nics = guest.nics.map((nic) => ({ deviceConfigId: 4000, connected: true, ...nic }));
    await this.#do('guest', { machine, ...guest, nics });
  }

  async setHardware(machine: string, hardware: LabHardware): Promise<void> {
    await this.#do('hardware', { machine, ...hardware });
  }

  async power(machine: string, state: 'poweredOn' | 'poweredOff' | 'suspended'): Promise<void> {
    await this.#do('power', { machine, state });
  }

  async destroy(machine: string): Promise<void> {
    await this.#do('destroy', { machine });
  }

  async rename(machine: string, name: string): Promise<void> {
    await this.#do('rename', { machine, name });
  }

  /** A machine that runs, beside another one. Resolves with its reference. */
  async create(like: string, machine: { name: string; uuid: string; address: string }): Promise<string> {
    return (await this.#do<{ machine: string }>('create', { like, ...machine })).machine;
  }

  /** To another host; where that is of another cluster, to its root resource pool too. */
  async migrate(machine: string, host: string): Promise<void> {
    await this.#do('migrate', { machine, host });
  }

  /** vCenter knows no configuration of a machine that is neither connected nor disconnected. */
  async setConnection(
    machine: string,
    state: 'connected' | 'disconnected' | 'orphaned' | 'inaccessible' | 'invalid',
  ): Promise<void> {
    await this.#do('connection', { machine, state });
  }

  /** Its machines are disconnected while it is. */
  async setHost(host: string, state: 'connected' | 'disconnected' | 'notResponding'): Promise<void> {
    await this.#do('host', { host, state });
  }

  /** Moves a machine into a new folder beside it. Resolves with the folder's reference. */
  async moveToFolder(machine: string, name: string): Promise<string> {
    return (await this.#do<{ folder: string }>('folder', { machine, name })).folder;
  }

  /** Category and tag are made where there are none. */
  async tag(object: Pick<LabObject, 'type' | 'reference'>, category: string, name: string): Promise<void> {
    await this.#do('tag', { type: object.type, reference: object.reference, category, name });
  }

  async untag(object: Pick<LabObject, 'type' | 'reference'>, category: string, name: string): Promise<void> {
    await this.#do('untag', { type: object.type, reference: object.reference, category, name });
  }

  /** All machines that the user has no permission to see: they are in no list and no search, and asked about they are refused. */
  async hide(machines: readonly string[]): Promise<void> {
    await this.#do('hide', { machines });
  }

  /** How many sessions clients have open. */
  async sessions(): Promise<{ readonly soap: number; readonly rest: number }> {
    return this.#do('sessions', { kill: false });
  }

  /** Resolves with how many sessions there were. */
  async killSessions(): Promise<{ readonly soap: number; readonly rest: number }> {
    return this.#do('sessions', { kill: true });
  }

  /** Another password for its user. Sessions that are open stay so. */
  async setPassword(password: string): Promise<void> {
    await this.#do('password', { password });
  }

  /** Connections end without an answer. */
  async setDown(down: boolean): Promise<void> {
    await this.#do('down', { down });
  }

  /** Instead of all rules and faults that were there. */
  async setRules(rules: readonly WireRule[]): Promise<void> {
    await this.#do('rules', { rules });
  }

  async addFault(fault: SoapFault): Promise<void> {
    await this.#do('fault', fault);
  }

  /** All requests since they were forgotten last, in order. `reset`: forgets them afterwards. */
  async calls(reset = false): Promise<readonly LabCall[]> {
    return this.#do('calls', { reset });
  }

  /** `cloud.conf` of the official provider, which ours reads too. `more`: further sections. */
  static config(vcenters: readonly LabVcenter[], more = ''): string {
    const sections = vcenters.map(
      ({ name, password, port, user }) => `[VirtualCenter "${name}"]
server = "127.0.0.1"
port = "${port}"
user = "${user}"
password = "${password}"
insecure-flag = "1"
`,
    );
    return `[Global]\ninsecure-flag = "1"\n\n${sections.join('\n')}\n${more}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

/**
 * vCenters that end with the test. Where there is no Go to build the simulator with, the test is skipped and this is `undefined`; with
 * `CI=true` it fails instead.
 */
export async function startLabOrSkip(
  t: Pick<TestContext, 'skip' | 'after'>,
  vcenters: readonly LabOptions[],
): Promise<readonly LabVcenter[] | undefined> {
  try {
    await buildSimulator();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || process.env['CI'] === 'true') throw error;
    t.skip('there is no Go to build the simulator of vCenter with');
    return undefined;
  }
  return Promise.all(
    vcenters.map(async (options) => {
      const vcenter = await LabVcenter.start(options);
      t.after(() => vcenter[Symbol.asyncDispose]());
      return vcenter;
    }),
  );
}
