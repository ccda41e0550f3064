/** Which properties of machines are read, and a machine from what was answered. Pure. */
import { xmlChild, xmlChildren, xmlText } from '@outrigger/provider-kit';
import type { ObjectContent } from '../client/soap.ts';
import type { ConnectionState, GuestAddress, GuestNic, PowerState, VirtualMachine } from './virtual-machine.ts';

export const MACHINE_PATHS: readonly string[] = [
  'name',
  'parent',
  'resourcePool',
  'config.uuid',
  'config.instanceUuid',
  'config.template',
  'runtime.connectionState',
  'runtime.powerState',
  'runtime.host',
  'summary.config.guestId',
  'summary.config.guestFullName',
  'summary.config.numCpu',
  'summary.config.memorySizeMB',
  'guest.hostName',
  'guest.ipAddress',
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
    instanceUuid: text('config.instanceUuid')?.toLowerCase(),
    isTemplate: text('config.template') === 'true',
    connectionState: text('runtime.connectionState') as ConnectionState | undefined,
    powerState: text('runtime.powerState') as PowerState | undefined,
    guestId: text('summary.config.guestId'),
    guestFullName: text('summary.config.guestFullName'),
    guestHostName: text('guest.hostName'),
    guestAddress: text('guest.ipAddress'),
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
    macAddress: xmlText(xmlChild(nic, 'macAddress')),
    deviceConfigId: wholeNumber(xmlText(xmlChild(nic, 'deviceConfigId'))) ?? -1,
    isConnected: xmlText(xmlChild(nic, 'connected')) === 'true',
    addresses: addressesOf(nic),
  };
}

/** Tools of before 4.1 give addresses alone, without their prefixes. */
function addressesOf(nic: unknown): readonly GuestAddress[] {
  const configured = xmlChildren(xmlChild(nic, 'ipConfig'), 'ipAddress').flatMap((one) => {
    const [address, prefixLength] = [xmlText(xmlChild(one, 'ipAddress')), xmlText(xmlChild(one, 'prefixLength'))];
    return address === undefined ? [] : [{ address, prefixLength: wholeNumber(prefixLength) }];
  });
  if (configured.length > 0) return configured;
  return xmlChildren(nic, 'ipAddress').flatMap((one) => {
    const address = xmlText(one);
    return address === undefined ? [] : [{ address }];
  });
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/u.test(text) ? Number(text) : undefined;
}
