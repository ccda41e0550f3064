/** For tests: the cloud config of the user `k8s` in the fake. */
import { FAKE_ORIGIN } from './in-process-fetch.ts';

export interface FakeCloudConf {
  /** Keystone's. Default: the one that `inProcessFetch` reaches. */
  readonly authUrl?: string;
  readonly password?: string;
  readonly project?: string;
  readonly region?: string;
  /** More sections. */
  readonly more?: string;
}

export function fakeCloudConf({
  authUrl = `${FAKE_ORIGIN}/identity/v3`,
  password = 'k8s',
  project = 'k8s',
  region = 'RegionOne',
  more = '',
}: FakeCloudConf = {}): string {
  return `[Global]
auth-url = ${authUrl}
username = k8s
password = ${password}
user-domain-id = default
tenant-name = ${project}
tenant-domain-id = default
region = ${region}
${more}
`;
}

/** Neither variables nor files of whoever runs the test. */
export const NOWHERE = { env: {}, workingDirectory: '/nowhere', homeDirectory: '/nowhere' } as const;
