/** IDs, and the moments at which things are made: the same from run to run with the same random source and clock. */
import type { Clock } from '@outrigger/cloud-provider';

export interface Identifiers {
  /** 36 characters, as nova and neutron make them. */
  uuid(): string;
  /** 32 characters without dashes, as keystone makes them. */
  hex(): string;
  /** `fa:16:3e:…`. */
  mac(): string;
  /** `2026-01-01T00:00:00Z`, as nova and neutron write it. */
  timestamp(): string;
}

export function createIdentifiers(clock: Clock, random: () => number): Identifiers {
  const word = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  let macs = 0;
  let written = { at: Number.NaN, text: '' };
  const hex = (): string => word() + word() + word() + word();
  return {
    hex,
    uuid: () => {
      const all = hex();
      return `${all.slice(0, 8)}-${all.slice(8, 12)}-4${all.slice(13, 16)}-a${all.slice(17, 20)}-${all.slice(20)}`;
    },
    mac: () => {
      // All 24 bits before any comes again: drawn by lot, two of 10,000 would soon be the same.
      const all = ((++macs * 0x9e3779) & 0xffffff).toString(16).padStart(6, '0');
      return `fa:16:3e:${all.slice(0, 2)}:${all.slice(2, 4)}:${all.slice(4)}`;
    },
    timestamp: () => {
      const now = clock.now();
      if (now !== written.at) written = { at: now, text: new Date(now).toISOString().replace(/\.\d+Z$/, 'Z') };
      return written.text;
    },
  };
}
