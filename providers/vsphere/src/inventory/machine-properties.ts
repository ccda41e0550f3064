/** Which properties of machines are read, and a machine from what was answered. Pure. */
import { childOf, childrenOf, faultName, managedObjectIn, textOf } from '../client/soap.ts';
import type { ConnectionState, GuestAddress, GuestNic, PowerState, VirtualMachine } from './virtual-machine.ts';

/** An object with what was answered of it (`ObjectContent`). */
export interface ObjectContent {
  readonly type: string;
  readonly reference: string;
  readonly properties: ReadonlyMap<string, unknown>;
  /** Faults of properties that were not given, by their paths. */
  readonly missing: ReadonlyMap<string, string>;
}

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

/** A property of one key alone: the whole extra configuration of a machine has hundreds. */
export function guestInfoPath(key: string): string {
  return `config.extraConfig[${JSON.stringify(key)}]`;
}

export const WHOLE_EXTRA_CONFIG = 'config.extraConfig';

export function objectContents(answer: unknown): readonly ObjectContent[] {
  return childrenOf(childOf(answer, 'returnval'), 'objects').flatMap((object) => {
    const managed = managedObjectIn(childOf(object, 'obj'));
    if (!managed) return [];
    const pairs = (element: string, value: (one: unknown) => unknown, name: string): Map<string, unknown> =>
      new Map(childrenOf(object, element).map((one) => [textOf(childOf(one, name)) ?? '', value(one)]));
    return [
      {
        ...managed,
        properties: pairs('propSet', (one) => childOf(one, 'val'), 'name'),
        missing: pairs('missingSet', (one) => faultName(childOf(one, 'fault')), 'path') as Map<string, string>,
      },
    ];
  });
}

/** `guestInfo`: the keys that are in use. */
export function virtualMachine({ properties, reference }: ObjectContent, guestInfo: readonly string[]): VirtualMachine {
  const text = (path: string): string | undefined => textOf(properties.get(path));
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
    nics: childrenOf(properties.get('guest.net'), 'GuestNicInfo').map(guestNic),
    cpus: wholeNumber(text('summary.config.numCpu')),
    memoryMB: wholeNumber(text('summary.config.memorySizeMB')),
    host: text('runtime.host'),
    resourcePool: text('resourcePool'),
    parent: text('parent'),
    guestInfo: Object.fromEntries(extraConfig(properties, guestInfo)),
  };
}

function extraConfig(properties: ReadonlyMap<string, unknown>, keys: readonly string[]): readonly [string, string][] {
  const values = [
    ...keys.map((key) => properties.get(guestInfoPath(key))),
    ...childrenOf(properties.get(WHOLE_EXTRA_CONFIG), 'OptionValue'),
  ];
  return values.flatMap((value) => {
    const [key, text] = [textOf(childOf(value, 'key')), textOf(childOf(value, 'value'))];
    return key !== undefined && text !== undefined && keys.includes(key) ? [[key, text] as [string, string]] : [];
  });
}

function guestNic(nic: unknown): GuestNic {
  return {
    network: textOf(childOf(nic, 'network')),
    macAddress: textOf(childOf(nic, 'macAddress')),
    deviceConfigId: wholeNumber(textOf(childOf(nic, 'deviceConfigId'))) ?? -1,
    isConnected: textOf(childOf(nic, 'connected')) === 'true',
    addresses: addressesOf(nic),
  };
}

/** Tools of before 4.1 give addresses alone, without their prefixes. */
function addressesOf(nic: unknown): readonly GuestAddress[] {
  const configured = childrenOf(childOf(nic, 'ipConfig'), 'ipAddress').flatMap((one) => {
    const [address, prefixLength] = [textOf(childOf(one, 'ipAddress')), textOf(childOf(one, 'prefixLength'))];
    return address === undefined ? [] : [{ address, prefixLength: wholeNumber(prefixLength) }];
  });
  if (configured.length > 0) return configured;
  return childrenOf(nic, 'ipAddress').flatMap((one) => {
    const address = textOf(one);
    return address === undefined ? [] : [{ address }];
  });
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/u.test(text) ? Number(text) : undefined;
}
