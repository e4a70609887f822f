// Screenshots of each view, in light and dark and at the width of a phone, for manual inspection: build/console/*.png.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { script, traffic } from './script.mjs';
import { Console, Gateway, startBrowser } from './support.mjs';

let gateway, browser, seen;
before(async () => {
  gateway = await Gateway.start(script());
  browser = await startBrowser();
  seen = await traffic(gateway);
  await gateway.control('POST', '/keys', { name: 'ops', models: ['mock-model'], operations: ['list_models', 'chat_completions'], limit: '10/1m' });
  // Sends a request and retries that come too early.
  await gateway.control('POST', '/failures', { failure: 'rate_limited', times: 2 });
  for (let tries = 0; tries < 3; ++tries) await gateway.ask('Hello again');
  await gateway.control('POST', '/failures', { failure: 'overloaded', times: 2, for: { operation: 'list_models' } });
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

for (const [scheme, width] of [['light', 1400], ['dark', 1400], ['light', 500], ['dark', 500]]) {
  test(`screenshots of each view (${scheme}, ${width} pixels wide)`, async () => {
    const tab = await Console.open(browser, gateway, { scheme, width });
    const shoot = async (name) => {
      const path = join(process.env.CONSOLE_PICTURES, `${name}-${scheme}-${width}.png`);
      // A screenshot of the full page resizes the page, which would load an exchange beside the list again.
      await tab.page.screenshot({ path, fullPage: await tab.page.$('.pair') === null });
      assert.ok((await stat(path)).size > 5000);
    };
    const views = { journal: ['journal', 'tr[data-id]'], review: ['review', '.problems'], keys: ['keys', 'tr[data-key]'], stubs: ['stubs', 'tr[id]'],
      script: ['script', '.problems'], control: ['control', '.parts li'], unmatched: [`exchange/${seen.unmatched}`, '.near'],
      forbidden: [`exchange/${seen.forbidden}`, '.conversation'], greeted: [`exchange/${seen.greeted}`, '.conversation'], broken: [`exchange/${seen.broken}`, 'svg'], stub: [`stubs/${seen.stub}`, 'pre.text'], left: [`exchange/${seen.left}`, 'svg'] };
    for (const [name, [view, selector]] of Object.entries(views)) {
      await tab.show(view);
      await tab.page.waitForSelector(selector);
      await shoot(name);
    }
    await tab.show('keys');
    await tab.click('Create a key');
    await shoot('create');
    await tab.page.keyboard.press('Escape');
    await tab.close();
  });
}
