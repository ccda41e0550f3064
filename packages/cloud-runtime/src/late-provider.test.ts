import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Capabilities, CloudProvider, ConfigText } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { openProviderLate, type LateProvider } from './late-provider.ts';

/** Opens when it is told to; remembers which configuration is in force. */
class SlowProvider implements CloudProvider {
  readonly name = 'slow';
  inForce = '';
  /** Set: what happens while it takes a changed configuration. */
  meanwhile: () => void = () => {};
  readonly #opened = Promise.withResolvers<Capabilities>();

  open({ config }: Parameters<CloudProvider['open']>[0]): Promise<Capabilities> {
    this.inForce = config?.text ?? '';
    return this.#opened.promise;
  }

  letOpen(): void {
    this.#opened.resolve({});
  }

  async reconfigure({ text }: ConfigText): Promise<void> {
    this.meanwhile();
    if (text === 'wrong') throw new Error('no region in it');
    this.inForce = text;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const config = (text: string): ConfigText => ({ fileName: 'cloud.json', text });

async function setUp(): Promise<{
  readonly clock: FakeClock;
  readonly provider: SlowProvider;
  readonly late: LateProvider;
}> {
  const clock = new FakeClock();
  const provider = new SlowProvider();
  const late = openProviderLate({
    name: provider.name,
    make: () => Promise.resolve(provider),
    config: config('old'),
    cluster: { id: 'c', name: 'c' },
    clock,
    logger: silentLogger,
    random: () => 0,
  });
  await clock.settle();
  assert.equal(provider.inForce, 'old');
  return { clock, provider, late };
}

test('a configuration that changes while the provider is being opened is in force once it is open', async () => {
  const { late, provider } = await setUp();
  await late.reconfigure(config('new'));
  provider.letOpen();
  await late.firstAttempt;
  assert.deepEqual([late.isOpen, provider.inForce], [true, 'new']);
  await late[Symbol.asyncDispose]();
});

test('and so is one that changes again while that one is being taken', async () => {
  const { late, provider } = await setUp();
  await late.reconfigure(config('new'));
  provider.meanwhile = () => {
    provider.meanwhile = () => {};
    void late.reconfigure(config('newest'));
  };
  provider.letOpen();
  await late.firstAttempt;
  assert.deepEqual([late.isOpen, provider.inForce], [true, 'newest']);
  await late[Symbol.asyncDispose]();
});

test('one that is wrong leaves the old one in force, and the provider opens all the same', async () => {
  const { late, provider } = await setUp();
  await late.reconfigure(config('wrong'));
  provider.letOpen();
  await late.firstAttempt;
  assert.deepEqual([late.isOpen, provider.inForce], [true, 'old']);
  await late[Symbol.asyncDispose]();
});
