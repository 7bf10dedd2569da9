// One page in each framework, rendered on a server and taken over by the browser: the form with words in it, a button that
// changes what the form is given, and what the form told the page.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { build } from "esbuild";

const require = createRequire(import.meta.url);

const react = (library) => `
  import { ${library === "react" ? "createElement" : "h as createElement"} } from "${library}";
  import { useState } from "${library === "react" ? "react" : "preact/hooks"}";
  export function App() {
    const [changed, change] = useState(false);
    const [identity, welcome] = useState("nobody");
    return createElement("main", { lang: changed ? "hi" : "en" },
      createElement("button", { id: "change", onClick: () => change(true) }, "Change"),
      createElement("dwar-login", { endpoint: changed ? "/auth" : "/login", "ondwar-login": ({ detail }) => welcome(detail.identity_id) },
        createElement("p", null, "Scripts are needed to log in.")),
      createElement("output", null, identity));
  }`;

const vue = `
  import { createSSRApp, h, ref } from "vue";
  export const app = () => createSSRApp({
    setup() {
      const changed = ref(false), identity = ref("nobody");
      return () => h("main", { lang: changed.value ? "hi" : "en" }, [
        h("button", { id: "change", onClick: () => (changed.value = true) }, "Change"),
        h("dwar-login", { endpoint: changed.value ? "/auth" : "/login", "onDwar-login": ({ detail }) => (identity.value = detail.identity_id) },
          [h("p", "Scripts are needed to log in.")]),
        h("output", identity.value)]);
    },
  });`;

const svelte = `<script>
  let changed = $state(false), identity = $state("nobody");
</script>
<main lang={changed ? "hi" : "en"}>
  <button id="change" onclick={() => (changed = true)}>Change</button>
  <dwar-login endpoint={changed ? "/auth" : "/login"} ondwar-login={({ detail }) => (identity = detail.identity_id)}>
    <p>Scripts are needed to log in.</p>
  </dwar-login>
  <output>{identity}</output>
</main>`;

const angular = `
  import "@angular/compiler";
  import { Component, CUSTOM_ELEMENTS_SCHEMA, provideZonelessChangeDetection, signal } from "@angular/core";
  import { bootstrapApplication, provideClientHydration } from "@angular/platform-browser";
  class Root {
    changed = signal(false);
    identity = signal("nobody");
  }
  export const Page = Component({
    selector: "app-root", standalone: true, schemas: [CUSTOM_ELEMENTS_SCHEMA],
    template: \`<main [attr.lang]="changed() ? 'hi' : 'en'"><button id="change" (click)="changed.set(true)">Change</button>
      <dwar-login [endpoint]="changed() ? '/auth' : '/login'" (dwar-login)="identity.set($event.detail.identity_id)"><p>Scripts are needed to log in.</p></dwar-login>
      <output>{{ identity() }}</output></main>\`,
  })(Root) ?? Root;
  export const start = (more = [], context) =>
    bootstrapApplication(Page, { providers: [provideZonelessChangeDetection(), provideClientHydration(), ...more] }, context);`;

/** For each framework: its app, the program of the server, which gives the HTML, and that of the browser. */
const APPS = {
  react: {
    app: react("react"),
    server: `import { renderToString } from "react-dom/server"; import { createElement } from "react"; import { App } from "app";
      export default async () => renderToString(createElement(App));`,
    browser: `import { hydrateRoot } from "react-dom/client"; import { createElement } from "react"; import { App } from "app";
      hydrateRoot(document.getElementById("root"), createElement(App));`,
  },
  preact: {
    app: react("preact"),
    server: `import { renderToString } from "preact-render-to-string"; import { h } from "preact"; import { App } from "app";
      export default async () => renderToString(h(App));`,
    browser: `import "preact/debug"; import { h, hydrate } from "preact"; import { App } from "app";
      hydrate(h(App), document.getElementById("root"));`,
  },
  vue: {
    app: vue,
    server: `import { renderToString } from "vue/server-renderer"; import { app } from "app"; export default () => renderToString(app());`,
    browser: `import { app } from "app"; app().mount("#root");`,
  },
  svelte: {
    app: svelte,
    server: `import { render } from "svelte/server"; import App from "app"; export default async () => render(App).body;`,
    browser: `import { hydrate } from "svelte"; import App from "app"; hydrate(App, { target: document.getElementById("root") });`,
  },
  angular: {
    app: angular,
    server: `import { start } from "app"; import { provideServerRendering, renderApplication } from "@angular/platform-server";
      const document = "<!doctype html><html><head></head><body><app-root></app-root></body></html>";
      export default async () => /<body[^>]*>([^]*)<\\/body>/.exec(await renderApplication((context) => start([provideServerRendering()], context), { document, url: "http://localhost/", allowedHosts: ["localhost"] }))[1];`,
    browser: `import { start } from "app"; start();`,
  },
};

/** @returns the HTML of the server and the program of the browser */
export async function make(framework, scratch) {
  const { app, server, browser } = APPS[framework];
  const bundle = async (program, side) => {
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: import.meta.dirname, loader: "js" },
      plugins: [{ name: "app", setup: (setup) => appOf(setup, framework, app, side) }],
      bundle: true, write: false, format: "esm", platform: side === "server" ? "node" : "browser", logLevel: "error",
      conditions: side === "server" ? [] : ["browser"], define: { "process.env.NODE_ENV": '"development"', __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "true" },
      banner: side === "server" ? { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' } : {},
    });
    return outputFiles[0].text;
  };
  const file = `${scratch}/${framework}.mjs`;
  writeFileSync(file, await bundle(server, "server"));
  const body = await (await import(file)).default();
  const html = framework === "angular" ? body : `<div id="root">${body}</div>`;
  return { html, program: await bundle(browser, "browser") };
}

function appOf(setup, framework, app, side) {
  setup.onResolve({ filter: /^app$/ }, () => ({ path: "app", namespace: "app" }));
  setup.onLoad({ filter: /.*/, namespace: "app" }, async () => {
    if (framework !== "svelte") return { contents: app, loader: "js", resolveDir: import.meta.dirname };
    const { compile } = require("svelte/compiler");
    return { contents: compile(app, { generate: side === "server" ? "server" : "client", dev: side !== "server", filename: "App.svelte" }).js.code, resolveDir: import.meta.dirname };
  });
}
