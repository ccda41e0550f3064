/** The Helm chart as it is distributed: an archive, and the same as an OCI artifact in a tar file. The same chart gives the same bytes. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { SAME_EVERYWHERE, writeOciLayout } from '../image/oci-layout.ts';

export interface ChartArtifact {
  /** `outrigger-cloud-controller-manager-0.1.0.tgz`, as `helm package` names it. */
  readonly archive: string;
  /** The OCI layout. */
  readonly layout: string;
  /** Of the manifest. */
  readonly digest: string;
}

/** `chart`: its folder, named as the chart is. Needs GNU tar. */
export function writeChart(chart: string, output: string): ChartArtifact {
  const metadata = parse(readFileSync(path.join(chart, 'Chart.yaml'), 'utf8')) as Readonly<Record<string, string>>;
  const { description, name, version } = metadata;
  const ignored = readFileSync(path.join(chart, '.helmignore'), 'utf8').trim().split('\n');
  const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-chart-'));
  try {
    const unpacked = path.join(directory, 'chart.tar');
    const excluded = ignored.map((pattern) => `--exclude=${name}/${pattern.replace(/\/$/u, '')}`);
    const files = ['-C', path.dirname(chart), path.basename(chart)];
    execFileSync('tar', [...SAME_EVERYWHERE, ...excluded, '-cf', unpacked, ...files]);
    const content = gzipSync(readFileSync(unpacked));
    const archive = path.join(output, `${name}-${version}.tgz`);
    writeFileSync(archive, content);
    const layout = path.join(output, `${name}-${version}.oci.tar`);
    const { digest } = writeOciLayout(layout, { 'org.opencontainers.image.ref.name': `${version}` }, (put) => ({
      config: put('application/vnd.cncf.helm.config.v1+json', Buffer.from(JSON.stringify(metadata))),
      layers: [put('application/vnd.cncf.helm.chart.content.v1.tar+gzip', content)],
      annotations: {
        'org.opencontainers.image.title': `${name}`,
        'org.opencontainers.image.description': `${description}`,
        'org.opencontainers.image.version': `${version}`,
      },
    }));
    return { archive, layout, digest };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
