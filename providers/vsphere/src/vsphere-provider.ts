/** The provider: reads the cloud config, connects late, and gives the instances of all vCenters. */
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type Capabilities,
  type CloudErrorCode,
  type CloudPermissions,
  type CloudProvider,
  type ConfigText,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import { checkWithWarnings, proxiesOf, RefusedCredentials } from '@outrigger/provider-kit';
import { readVsphereConfig } from './config/read-vsphere-config.ts';
import type { VcenterSettings, VsphereConfig } from './config/vsphere-config.ts';
import { KnownVcenter } from './instances/known-vcenter.ts';
import { VsphereInstances, type Site } from './instances/vsphere-instances.ts';
import { KnownIdentities } from './inventory/known-identities.ts';
import { openVcenter } from './inventory/open-vcenter.ts';
import type { Vcenter } from './inventory/vcenter.ts';
import { permissions } from './permissions.ts';

export interface VsphereEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
}

export interface VsphereProviderOptions {
  /** The prefix of its provider IDs. Default: `vsphere`. */
  readonly name?: string;
  /** Goes before the provider's own name in the `User-Agent`, the last first. Default: nothing. */
  readonly userAgent?: readonly string[];
  /** Default: the process's own. */
  readonly environment?: VsphereEnvironment;
  /** Opens a vCenter in place of connections of the provider's own. It asks nothing before it is used. */
  readonly open?: (settings: VcenterSettings, host: ProviderHost) => Vcenter;
}

export function createVsphereProvider(options: VsphereProviderOptions = {}): CloudProvider {
  return new VsphereProvider(options);
}

/** What one cloud config gives. */
interface Setup {
  readonly host: ProviderHost;
  readonly config: VsphereConfig;
  readonly site: Site;
  readonly replaced: AbortController;
}

/** Of errors that a changed config does not mend by waiting. */
const OF_THE_CONFIG: readonly CloudErrorCode[] = ['configuration', 'unauthenticated', 'forbidden', 'unsupported'];
const USER_AGENT = 'outrigger-provider-vsphere';

class VsphereProvider implements CloudProvider {
  readonly name: string;
  readonly permissions: CloudPermissions = permissions;
  readonly #options: VsphereProviderOptions;
  readonly #environment: VsphereEnvironment;
  /** For the life of the process. */
  readonly #identities = new KnownIdentities();
  /** vCenter locks an account for five wrong passwords in three minutes. */
  readonly #refused = new RefusedCredentials();
  #setup: Setup | undefined;

  constructor(options: VsphereProviderOptions) {
    this.name = options.name ?? 'vsphere';
    this.#options = options;
    this.#environment = options.environment ?? { env: process.env, workingDirectory: process.cwd() };
  }

  checkConfig(text: ConfigText | undefined): Promise<void> {
    return checkWithWarnings((warn) => this.#read(text, warn));
  }

  /** Waits for no vCenter. Whether it is there, and takes the credentials, is found out meanwhile. */
  async open(host: ProviderHost): Promise<Capabilities> {
    const setup = await this.#setUp(host, host.config);
    this.#setup = setup;
    void this.#tryOut(setup);
    const site = (): Site => this.#current().site;
    return { instances: new VsphereInstances({ name: this.name, clock: host.clock, site }) };
  }

  /** What is wrong with the config itself (credentials that are refused, another vCenter) keeps the old one; a vCenter that cannot be reached does not. */
  async reconfigure(text: ConfigText, call: CallContext): Promise<void> {
    const before = this.#current();
    const { host } = before;
    const setup = await this.#setUp(host, text);
    const vcenters = JSON.stringify(setup.config.vcenters);
    const refused = this.#refused.errorOf(vcenters, host.clock.monotonic());
    if (refused) {
      await this.#end(setup);
      throw refused;
    }
    const asked = await Promise.allSettled(setup.site.vcenters.map((vcenter) => vcenter.confirmIdentity(call)));
    const errors = asked.flatMap((one) => (one.status === 'rejected' ? [asError(one.reason)] : []));
    const wrong = errors.find((error) => OF_THE_CONFIG.some((code) => isCloudError(error, code)));
    const wrongLogin = errors.find((error) => isCloudError(error, 'unauthenticated'));
    this.#refused.note(vcenters, wrongLogin, host.clock.monotonic());
    if (wrong !== undefined) {
      await this.#end(setup);
      throw wrong;
    }
    for (const error of errors)
      host.logger.warn('The changed cloud config is in use, but a vCenter could not be reached', { error });
    this.#setup = setup;
    void this.#end(before);
  }

  /** Credentials of a mounted Secret, and a bundle of authorities, are rotated without a change of the config. */
  watchedFiles(): readonly string[] {
    return this.#setup?.config.files ?? [];
  }

  /** Logs out of all sessions. */
  async close(): Promise<void> {
    if (this.#setup) await this.#end(this.#setup);
  }

  #current(): Setup {
    if (!this.#setup) throw new CloudError('unavailable', `the provider ${this.name} is not open`);
    return this.#setup;
  }

  /** A cluster may have nothing to ask for hours: what is wrong is told now. Never throws. */
  async #tryOut({ host, site }: Setup): Promise<void> {
    await Promise.all(
      site.vcenters.map(async (vcenter) => {
        try {
          await vcenter.identity(host.callContext({ signal: site.signal }));
        } catch (error) {
          if (!OF_THE_CONFIG.some((code) => isCloudError(error, code))) return;
          host.logger.error('A vCenter cannot be used as the cloud config says', {
            vcenter: vcenter.api.address,
            error,
          });
        }
      }),
    );
  }

  async #setUp(host: ProviderHost, text: ConfigText | undefined): Promise<Setup> {
    const config = await this.#read(text, (warning) => host.logger.warn(warning), host);
    const replaced = new AbortController();
    const vcenters = config.vcenters.map(
      (settings) => new KnownVcenter(settings, this.#open(settings, host), this.#identities),
    );
    const { addresses, zones } = config;
    return { host, config, replaced, site: { addresses, zones, vcenters, signal: replaced.signal } };
  }

  #open(settings: VcenterSettings, host: ProviderHost): Vcenter {
    const { open, userAgent = [] } = this.#options;
    if (open) return open(settings, host);
    const agent = [...userAgent.toReversed(), USER_AGENT].join(' ');
    return openVcenter({ host, settings, proxies: proxiesOf(this.#environment.env), userAgent: agent });
  }

  #read(text: ConfigText | undefined, warn: (message: string) => void, host?: ProviderHost): Promise<VsphereConfig> {
    return readVsphereConfig(text, { ...this.#environment, warn, host });
  }

  async #end({ host: { logger }, replaced, site }: Setup): Promise<void> {
    replaced.abort(new CloudError('unavailable', 'the connection was closed'));
    await Promise.all(
      site.vcenters.map(async ({ api }) => {
        try {
          await api.close();
        } catch (error) {
          logger.warn('A session of a vCenter was not closed cleanly', { vcenter: api.address, error });
        }
      }),
    );
  }
}
