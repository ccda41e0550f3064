/** The day with what the chart renders, applied by kubectl; `make judges` has it with Helm itself. */
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { parseAllDocuments } from 'yaml';
import { kubectl } from './granted-program.ts';
import { operatorsDay, type ChartValues } from './operators-day.ts';

const RENDERED = new URL('../deploy/helm/outrigger-cloud-controller-manager/snapshots/default.yaml', import.meta.url);

/** The chart's objects, with these values in their places. */
async function render({ cloudConfig, extraArgs }: ChartValues): Promise<string> {
  const items = parseAllDocuments(await readFile(RENDERED, 'utf8')).map(
    (document) => document.toJS() as { kind: string; stringData?: object; spec?: { template?: Template } },
  );
  for (const item of items) {
    if (item.kind === 'Secret') item.stringData = { 'cloud.conf': cloudConfig };
    for (const container of item.spec?.template?.spec.containers ?? []) container.args.push(...extraArgs);
  }
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

interface Template {
  readonly spec: { readonly containers: readonly { readonly args: string[] }[] };
}

test("a new operator's day: installed, a Service is ready, a wrong credential is mended as the Event says, upgraded, and nothing is left", async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { kubectl: true });
  if (!controlPlane) return;
  const apply = async (values: ChartValues): Promise<void> =>
    void (await kubectl(controlPlane, ['apply', '-f', '-'], await render(values)));
  let installed: ChartValues = { cloudConfig: '', extraArgs: [] };
  await operatorsDay(controlPlane, {
    install: (values) => apply((installed = values)),
    upgrade: (values) => apply((installed = values)),
    uninstall: async () => void (await kubectl(controlPlane, ['delete', '-f', '-'], await render(installed))),
  });
});
