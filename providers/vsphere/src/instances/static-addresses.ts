/** The addresses that a machine was configured with by cloud-init (`guestinfo.metadata`), as Cluster API does. Pure. */
import { gunzipSync } from 'node:zlib';
import { canonicalIp } from '@outrigger/cloud-provider';
import { parse } from 'yaml';

/** Encoded, and unpacked. That of a machine with ten interfaces has half of it, and root in the guest can write what it likes there. */
const MOST_CHARACTERS = 10_000;

/**
 * In canonical form and in order; empty where there are none, or where they are not encoded as base64, as upstream has it. A text: why
 * they cannot be read. Upstream: `sortStaticallyConfiguredAddressesFirst` (nodemanager.go), which takes the interfaces in no order.
 */
export function staticAddresses(guestInfo: Readonly<Record<string, string>>): readonly string[] | string {
  const metadata = guestInfo['guestinfo.metadata'] ?? '';
  if (metadata === '' || guestInfo['guestinfo.metadata.encoding'] !== 'base64') return [];
  if (metadata.length > MOST_CHARACTERS)
    return `its guestinfo.metadata has more than the ${MOST_CHARACTERS} characters that are read: shorten it`;
  try {
    const outer = mappingOf(yamlIn(fromBase64(metadata)));
    const network = mappingOf(networkIn(outer.get('network'), outer.get('network.encoding')));
    const addresses = [...mappingOf(network.get('ethernets')).values()].flatMap(
      (one) => mappingOf(one).get('addresses') ?? [],
    );
    // By aliases of YAML, a short text has many times as many.
    return [...new Set(addresses)].flatMap((one) =>
      typeof one === 'string' ? (canonicalIp(one.split('/')[0] ?? '') ?? []) : [],
    );
  } catch {
    // What is wrong may quote the text, in which others keep secrets.
    return 'its guestinfo.metadata cannot be decoded';
  }
}

function networkIn(network: unknown, encoding: unknown): unknown {
  switch (encoding) {
    case 'base64':
    case 'b64':
      return yamlIn(fromBase64(textOf(network)));
    case 'gzip+base64':
    case 'gz+b64':
      return yamlIn(
        gunzipSync(Buffer.from(textOf(network), 'base64'), { maxOutputLength: MOST_CHARACTERS }).toString('utf8'),
      );
    default:
      return network;
  }
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text');
  return value;
}

/** As Go's decoder, which takes nothing else. */
function fromBase64(text: string): string {
  const plain = text.replaceAll(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain) || plain.length % 4 !== 0) throw new TypeError('no base64');
  return Buffer.from(plain, 'base64').toString('utf8');
}

function yamlIn(text: string): unknown {
  // To compare each key with all others takes time by the square of them, and to make a text of keys that are mappings takes minutes
  // for 1 KB; and warnings, which quote the text, would go past the log.
  return parse(text, { prettyErrors: false, uniqueKeys: false, mapAsMap: true, logLevel: 'error' });
}

function mappingOf(value: unknown): ReadonlyMap<unknown, unknown> {
  return value instanceof Map ? value : new Map();
}
