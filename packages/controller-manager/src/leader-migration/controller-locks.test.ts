import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerLocks, type ControllerLock } from './controller-locks.ts';

const KNOWN = [
  { name: 'cloud-node-controller', aliases: ['cloud-node'] },
  { name: 'node-route-controller', aliases: ['route', 'route-controller'] },
  { name: 'service-lb-controller', aliases: ['service'] },
];

function locks(component: string, ...leaders: readonly (readonly [string, string])[]): readonly ControllerLock[] {
  const controllerLeaders = leaders.map(([name, component], index) => ({ name, component, where: `file:${index}` }));
  const lockOf = controllerLocks({ leaderName: 'x', controllerLeaders }, component, KNOWN);
  return KNOWN.map(({ name }) => lockOf(name));
}

test('what is not listed runs under the main lock; what is, under the other one or elsewhere', () => {
  const leaders = [
    ['node-route-controller', 'kube-controller-manager'],
    ['service-lb-controller', '*'],
  ] as const;
  assert.deepEqual(locks('cloud-controller-manager', ...leaders), ['main', 'elsewhere', 'migration']);
  assert.deepEqual(locks('kube-controller-manager', ...leaders), ['main', 'migration', 'migration']);
  assert.deepEqual(locks('cloud-controller-manager'), ['main', 'main', 'main']);
});

test('aliases mean the controller, here and for the other manager alike', () => {
  assert.deepEqual(locks('b', ['route-controller', 'b'], ['service', 'a']), ['main', 'migration', 'elsewhere']);
});

test('a name of nobody is refused with those that there are, and so are two words about one controller', () => {
  assert.throws(() => locks('a', ['route', '*'], ['service-controler', '*']), {
    name: 'FlagError',
    message:
      /^file:1: no controller "service-controler".*; there are cloud-node-controller, node-route-controller, service-lb-controller$/u,
  });
  assert.throws(() => locks('a', ['route', 'a'], ['node-route-controller', 'b']), {
    name: 'FlagError',
    message: 'file:1: node-route-controller is to run in a already, not in b',
  });
  assert.deepEqual(locks('a', ['route', 'a'], ['node-route-controller', 'a']), ['main', 'migration', 'main']);
});
