// Accessibility of the page: names, focus, contrast, keyboard, and the width of a phone.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { script, traffic } from './script.mjs';
import { Console, Gateway, startBrowser } from './support.mjs';

let gateway, browser, views;
before(async () => {
  gateway = await Gateway.start(script({ clock: 'manual' }));
  browser = await startBrowser();
  const seen = await trafficOfManualClock();
  await gateway.control('POST', '/failures', { failure: 'overloaded', times: 2, for: { operation: 'list_models' } });
  await gateway.control('POST', '/connections', { fault: 'early_hints', times: 3 });
  await gateway.control('POST', '/chaos', { failure: 'overloaded', nth: 1000 });
  await gateway.control('PUT', '/script', { mock_gateway: 1, stubs: [{ name: 'by hand', when: { user_says: 'hand' }, reply: 'Hi' }] });
  views = { journal: 'tr[data-id]', review: '.problems', keys: 'tr[data-key]', stubs: 'tr[id]', script: 'main code', control: '.parts li',
    [`exchange/${seen.unmatched}`]: '.near', [`exchange/${seen.broken}`]: 'svg', [`stubs/${seen.stub}`]: 'pre.text' };
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

/// Creates traffic on a manual clock, and advances the clock while the traffic waits for it.
async function trafficOfManualClock() {
  let going = true;
  const clock = (async () => {
    while (going) {
      await gateway.control('POST', '/clock/next').catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const seen = await traffic(gateway);
  going = false;
  await clock;
  return seen;
}

/// Opens each view with content, one after the other, and calls `look`.
async function eachView(tab, look) {
  for (const [view, selector] of Object.entries(views)) {
    await tab.show(view);
    await tab.page.waitForSelector(selector);
    await look(view);
  }
  await tab.show('keys');
  await tab.click('Create a key');
  await look('the dialog of a new key');
  await tab.page.keyboard.press('Escape');
  await tab.show('stubs');
  await tab.page.waitForSelector(views.stubs);
  await tab.write('Stub', '{');
  await tab.click('Add');
  await tab.page.waitForSelector('[role="alert"] .problem');
  await look('an error');
}
const expected = [/status of 400/];

test('every control and every picture has a name', async () => {
  const tab = await Console.open(browser, gateway);
  const session = await tab.page.createCDPSession();
  const named = new Set(['button', 'link', 'textbox', 'searchbox', 'spinbutton', 'combobox', 'checkbox', 'image', 'img', 'dialog', 'table', 'heading', 'region', 'DisclosureTriangle']);
  let checked = 0;
  await eachView(tab, async (view) => {
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    for (const node of nodes) {
      if (node.ignored || !named.has(node.role?.value)) continue;
      ++checked;
      assert.ok(node.name?.value.trim(), `${view}: a ${node.role.value} has no name`);
    }
  });
  assert.ok(checked > 200, `${checked} names were checked`);
  await tab.close(expected);
});

test('Tab reaches every control in the order of the page, and the focused control is visible', async () => {
  const tab = await Console.open(browser, gateway);
  await eachView(tab, async (view) => {
    const problems = [];
    const places = [];
    const number = await tab.page.evaluate(() => [...(document.querySelector('dialog[open]') ?? document)
      .querySelectorAll('a[href], button, input:not(:disabled), select, textarea, summary, [tabindex="0"]')]
      .filter((element) => element.checkVisibility() && element.tabIndex >= 0).length);
    await tab.page.evaluate(() => document.querySelector('dialog[open]') ?? document.activeElement.blur());
    for (let pressed = 0; pressed < number + 3; ++pressed) {
      await tab.page.keyboard.press('Tab');
      const { name, outline, seen, rank } = await tab.page.evaluate(() => {
        const element = document.activeElement;
        const style = getComputedStyle(element);
        const box = element.getBoundingClientRect();
        return { name: element === document.body ? '' : `${element.tagName} ${element.textContent.slice(0, 40)}`,
          outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && element.matches(':focus-visible'),
          seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
          rank: [...document.querySelectorAll('*')].indexOf(element) };
      });
      if (!name) continue;
      if (!outline) problems.push(`${name}: no outline`);
      if (!seen) problems.push(`${name}: out of sight`);
      places.push(rank);
    }
    assert.deepEqual(problems, [], view);
    assert.ok(new Set(places).size >= number, `${view}: ${new Set(places).size} of ${number} were reached`);
  });
  await tab.close(expected);
});

/// Returns texts whose contrast with their background is below 4.5 to 1.
function faintTexts() {
  const parse = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
  };
  const over = (front, back) => Object.fromEntries(['red', 'green', 'blue'].map((part) =>
    [part, front[part] * front.alpha + back[part] * (1 - front.alpha)]).concat([['alpha', 1]]));
  const luminance = (colour) => {
    const [red, green, blue] = ['red', 'green', 'blue'].map((part) => colour[part] / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      layers.push(colour);
      if (colour.alpha === 1) break;
    }
    const canvas = matchMedia('(prefers-color-scheme: dark)').matches ? { red: 18, green: 18, blue: 18, alpha: 1 } : { red: 255, green: 255, blue: 255, alpha: 1 };
    return layers.reduceRight((back, front) => over(front, back), canvas);
  };
  const faint = [];
  let looked = 0;
  const check = (element, colour, text) => {
    const back = ground(element);
    const [light, dark] = [luminance(over(parse(colour), back)), luminance(back)].sort((one, other) => other - one);
    const ratio = (light + 0.05) / (dark + 0.05);
    ++looked;
    if (ratio < 4.5) faint.push(`${ratio.toFixed(2)}: "${text.trim().slice(0, 40)}" in ${element.tagName}.${element.getAttribute('class')}`);
  };
  const root = document.querySelector('dialog[open]') ?? document.body;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const style = getComputedStyle(element);
    if (!node.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    check(element, element instanceof SVGElement ? style.fill : style.color, node.data);
  }
  for (const input of root.querySelectorAll('input, textarea, select')) {
    check(input, getComputedStyle(input).color, input.value || 'value');
    if (input.placeholder) check(input, getComputedStyle(input, '::placeholder').color, input.placeholder);
  }
  return { faint, looked };
}

for (const scheme of ['light', 'dark']) {
  for (const width of [1280, 390]) {
    test(`every text has a contrast of at least 4.5 to 1 (${scheme}, ${width} pixels wide)`, async () => {
      const tab = await Console.open(browser, gateway, { scheme, width, motion: 'reduce' });
      await eachView(tab, async (view) => {
        const { faint, looked } = await tab.page.evaluate(faintTexts);
        assert.deepEqual(faint, [], view);
        assert.ok(looked > 5, view);
      });
      await tab.close(expected);
    });
  }
}

test('axe-core finds no violation in any view', async () => {
  const axe = await readFile(new URL(import.meta.resolve('axe-core')), 'utf8');
  for (const width of [1400, 390]) {
    const tab = await Console.open(browser, gateway, { width, motion: 'reduce' });
    await tab.page.evaluate(axe);
    let passes = 0;
    await eachView(tab, async (view) => {
      const { violations, passed } = await tab.page.evaluate(async () => {
        const found = await window.axe.run(document);
        return { passed: found.passes.length, violations: found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).slice(0, 3).join(' ')}`) };
      });
      assert.deepEqual(violations, [], `${view} at ${width}`);
      passes += passed;
    });
    assert.ok(passes > 200, `${passes} rules were passed`);
    await tab.close(expected);
  }
});

/// Returns words of up to 24 letters that are broken across two lines.
function brokenWords() {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('.for-readers, caption')) continue;
    for (const { 0: word, index } of node.data.matchAll(/[\p{L}\d_]{2,24}/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word);
    }
  }
  return broken;
}

test('no word is broken across lines on a wide or half-wide screen', async () => {
  for (const width of [1400, 1280, 700, 500]) {
    const tab = await Console.open(browser, gateway, { width });
    await eachView(tab, async (view) => {
      assert.deepEqual(await tab.page.evaluate(brokenWords), [], `${view} at ${width}`);
    });
    await tab.close(expected);
  }
});

test('no view is wider than a small phone', async () => {
  const tab = await Console.open(browser, gateway, { width: 360, height: 740 });
  await eachView(tab, async (view) => {
    // On a phone, tables become cards, so the elements with class `scroll` need no scrolling.
    const beyond = await tab.page.evaluate(() => [document.documentElement, ...document.querySelectorAll('.scroll, dialog')]
      .map((element) => element.scrollWidth - element.clientWidth));
    assert.deepEqual(beyond, beyond.map(() => 0), view);
  });
  await tab.close(expected);
});

test('the first Tab offers to skip to the content, and a new view moves the focus to its heading', async () => {
  const tab = await Console.open(browser, gateway);
  await tab.page.reload();
  await tab.page.waitForSelector('nav a');
  await tab.page.keyboard.press('Tab');
  assert.equal(await tab.focused(), 'Skip to the content');
  await tab.page.keyboard.press('Enter');
  assert.equal(await tab.page.evaluate(() => document.activeElement.id), 'main');
  await tab.tabTo('Skip to the content');
  await tab.tabTo('Stubs');
  await tab.page.keyboard.press('Enter');
  await tab.waitForText('h1', 'Stubs');
  assert.equal(await tab.focused(), 'Stubs');
  assert.equal(await tab.page.evaluate(() => document.activeElement.tagName), 'H1');
  assert.match(await tab.page.title(), /^Stubs/);
  assert.equal(await tab.page.$eval('nav a[aria-current="page"]', (link) => link.textContent), 'Stubs');
  await tab.close();
});

test('a list that is redrawn keeps the focus', async () => {
  const tab = await Console.open(browser, gateway, { view: 'keys' });
  const id = (await gateway.control('GET', '/keys')).keys[0].id;
  await (await tab.page.waitForSelector(`[data-focus="edit:${id}"]`)).focus();
  const before = await tab.text('tbody tr td[data-label="Requests"]');
  await gateway.ask('Hello');
  await tab.page.waitForFunction((old) => document.querySelector('tbody tr td[data-label="Requests"]').textContent !== old, {}, before);
  assert.equal(await tab.page.evaluate(() => document.activeElement.dataset.focus), `edit:${id}`);
  await tab.close();
});
