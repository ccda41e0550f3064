/** Which properties of machines are read, and a machine from what was answered. Pure. */
import { xmlChild, xmlChildren, xmlText } from '@outrigger/provider-kit';
import type { ObjectContent } from '../client/soap.ts';
import type { ConnectionState, GuestNic, PowerState, VirtualMachine } from './virtual-machine.ts';

export const MACHINE = 'VirtualMachine';
export const MACHINE_PATHS: readonly string[] = [
  'name',
  'parent',
  'resourcePool',
  'config.uuid',
  'config.template',
  'runtime.connectionState',
  'runtime.powerState',
  'runtime.host',
  'summary.config.guestId',
  'summary.config.numCpu',
  'summary.config.memorySizeMB',
  'guest.hostName',
  'guest.net',
];

export const WHOLE_EXTRA_CONFIG = 'config.extraConfig';
const GUEST_INFO = ['guestinfo.metadata', 'guestinfo.metadata.encoding'];
/** A property of each key: the whole extra configuration of a machine has hundreds. */
export const GUEST_INFO_PATHS: readonly string[] = GUEST_INFO.map((key) => `${WHOLE_EXTRA_CONFIG}["${key}"]`);

export function virtualMachine({ properties, reference }: ObjectContent): VirtualMachine {
  const text = (path: string): string | undefined => xmlText(properties.get(path));
  return {
    reference,
    name: text('name') ?? '',
    biosUuid: text('config.uuid')?.toLowerCase(),
    isTemplate: text('config.template') === 'true',
    connectionState: text('runtime.connectionState') as ConnectionState | undefined,
    powerState: text('runtime.powerState') as PowerState | undefined,
    guestId: text('summary.config.guestId'),
    guestHostName: text('guest.hostName'),
    nics: xmlChildren(properties.get('guest.net'), 'GuestNicInfo').map(guestNic),
    cpus: wholeNumber(text('summary.config.numCpu')),
    memoryMB: wholeNumber(text('summary.config.memorySizeMB')),
    host: text('runtime.host'),
    resourcePool: text('resourcePool'),
    parent: text('parent'),
    guestInfo: Object.fromEntries(extraConfig(properties)),
  };
}

function extraConfig(properties: ReadonlyMap<string, unknown>): readonly [string, string][] {
  const values = [
    ...GUEST_INFO_PATHS.map((path) => properties.get(path)),
    ...xmlChildren(properties.get(WHOLE_EXTRA_CONFIG), 'OptionValue'),
  ];
  return values.flatMap((value) => {
    const [key, text] = [xmlText(xmlChild(value, 'key')), xmlText(xmlChild(value, 'value'))];
    return key !== undefined && text !== undefined && GUEST_INFO.includes(key) ? [[key, text] as [string, string]] : [];
  });
}

function guestNic(nic: unknown): GuestNic {
  return {
    network: xmlText(xmlChild(nic, 'network')),
    deviceConfigId: wholeNumber(xmlText(xmlChild(nic, 'deviceConfigId'))) ?? -1,
    addresses: addressesOf(nic),
  };
}

/** Tools of before 4.1 give addresses without their configuration. */
function addressesOf(nic: unknown): readonly string[] {
  const configured = xmlChildren(xmlChild(nic, 'ipConfig'), 'ipAddress');
  const addresses = configured.flatMap((one) => xmlText(xmlChild(one, 'ipAddress')) ?? []);
  return addresses.length > 0 ? addresses : xmlChildren(nic, 'ipAddress').flatMap((one) => xmlText(one) ?? []);
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/u.test(text) ? Number(text) : undefined;
}
