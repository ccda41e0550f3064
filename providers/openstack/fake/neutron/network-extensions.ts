/** Which of neutron's extensions there are: a test adds and takes away. */

/** Of the lab (Zed, ML2 with the router plugin), those that a cloud provider may ask for. */
const ZED_EXTENSIONS: readonly string[] = [
  'allowed-address-pairs',
  'empty-string-filtering',
  'external-net',
  'extraroute',
  'extraroute-atomic',
  'filter-validation',
  'ip-substring-filtering',
  'pagination',
  'port-security',
  'port-security-groups-filtering',
  'project-id',
  'quotas',
  'revision-if-match',
  'router',
  'security-group',
  'sorting',
  'standard-attr-description',
  'standard-attr-revisions',
  'standard-attr-tag',
  'standard-attr-timestamp',
];

export class NetworkExtensions {
  readonly aliases: Set<string> = new Set(ZED_EXTENSIONS);
}
