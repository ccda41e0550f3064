/** Azure clouds by the end of the names of their registries. */

/** As in the `matchImages` of the shipped configuration. */
export const ACR_REGISTRIES: readonly string[] = ['*.azurecr.io', '*.azurecr.cn', '*.azurecr.us'];

const LOGIN_URLS: Readonly<Record<string, string>> = {
  'azurecr.io': 'https://login.microsoftonline.com',
  'azurecr.cn': 'https://login.chinacloudapi.cn',
  'azurecr.us': 'https://login.microsoftonline.us',
};

/** Entra ID of the cloud that the registry is in; `undefined` for a private cloud. */
export function entraUrl(registry: string): string | undefined {
  return LOGIN_URLS[registry.split('.').slice(-2).join('.')];
}
