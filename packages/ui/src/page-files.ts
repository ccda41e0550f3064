/** The page as it is sent. Bundles and packages have it in them; from sources it is built when it is first asked for. */
import { builtPage, type BuiltPage } from './built-page.ts';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#3a5bd9" d="M2 14h20l-3 5H5zM7 14V6l6 8zM16 8h6v2h-6z"/></svg>`;

export interface PageFiles extends BuiltPage {
  readonly html: string;
  readonly icon: string;
}

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Outrigger</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/app.css">
<script src="/app.js" defer></script>
</head>
<body><div id="app"></div><noscript>This page needs JavaScript.</noscript></body>
</html>
`;

/** Throws an `Error` that says what to do where it is neither built nor can be. */
export async function pageFiles(): Promise<PageFiles> {
  return { html: HTML, icon: ICON, ...(builtPage ?? (await builtNow())) };
}

async function builtNow(): Promise<BuiltPage> {
  try {
    // No literal: a bundler leaves it alone.
    const source = './build-page.ts';
    const { buildPage } = (await import(source)) as { readonly buildPage: () => BuiltPage };
    return buildPage();
  } catch (error) {
    throw new Error('the page was not built into this program: run `make build`, and start bin/outrigger', {
      cause: error,
    });
  }
}
