// Sound in the browser: record as WAV, draw wave and spectrogram. No library: a Fourier transform is thirty lines.

export async function startRecording() {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const context = new AudioContext();
  await context.audioWorklet.addModule("/page/recorder.js");
  const node = new AudioWorkletNode(context, "recorder"), parts = [];
  node.port.onmessage = (event) => parts.push(event.data);
  context.createMediaStreamSource(stream).connect(node).connect(context.destination);
  return async () => {
    stream.getTracks().forEach((track) => track.stop());
    await context.close();
    return wav(parts, context.sampleRate);
  };
}

function wav(parts, rate) {
  const length = parts.reduce((sum, part) => sum + part.length, 0), view = new DataView(new ArrayBuffer(44 + 2 * length));
  const ascii = (at, text) => [...text].forEach((sign, i) => view.setUint8(at + i, sign.charCodeAt(0)));
  ascii(0, "RIFF"); view.setUint32(4, 36 + 2 * length, true); ascii(8, "WAVEfmt ");
  view.setUint32(16, 16, true); view.setUint16(20, 1, true); view.setUint16(22, 1, true);
  view.setUint32(24, rate, true); view.setUint32(28, 2 * rate, true); view.setUint16(32, 2, true); view.setUint16(34, 16, true);
  ascii(36, "data"); view.setUint32(40, 2 * length, true);
  let at = 44;
  for (const part of parts) for (const sample of part) {
    view.setInt16(at, Math.max(-1, Math.min(1, sample)) * 32767, true);
    at += 2;
  }
  return new Blob([view], { type: "audio/wav" });
}

export async function decode(blob) {
  const context = new OfflineAudioContext(1, 1, 16000);
  const buffer = await context.decodeAudioData(await blob.arrayBuffer());
  return { samples: buffer.getChannelData(0), rate: buffer.sampleRate };
}

// `hidden`: [begin, end] in seconds of what is masked.
export function draw(canvas, sound, hidden) {
  const pen = canvas.getContext("2d"), { width, height } = canvas, { samples, rate } = sound;
  const style = getComputedStyle(canvas), half = height * 0.4;
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = style.getPropertyValue("--wave");
  const step = samples.length / width, peak = Math.max(1e-4, samples.reduce((most, s) => Math.max(most, Math.abs(s)), 0));
  for (let x = 0; x < width; x++) {
    let low = 0, high = 0;
    for (let i = Math.floor(x * step); i < (x + 1) * step && i < samples.length; i++) {
      low = Math.min(low, samples[i]); high = Math.max(high, samples[i]);
    }
    pen.fillRect(x, half / 2 - high / peak * half / 2, 1, Math.max(1, (high - low) / peak * half / 2));
  }
  pen.putImageData(spectrogram(samples, rate, width, Math.floor(height - half - 4)), 0, half + 4);
  pen.fillStyle = style.getPropertyValue("--hatch");
  const seconds = samples.length / rate;
  for (const [begin, end] of hidden) for (let x = begin / seconds * width; x < end / seconds * width; x += 8) pen.fillRect(x, 0, 4, height);
}

function spectrogram(samples, rate, width, height) {
  const size = 512, image = new ImageData(width, height), real = new Float32Array(size), imaginary = new Float32Array(size);
  const bins = Math.min(size / 2, Math.round(8000 / rate * size));
  for (let x = 0; x < width; x++) {
    const middle = Math.floor((x + 0.5) / width * samples.length) - size / 2;
    for (let i = 0; i < size; i++) {
      real[i] = (samples[middle + i] || 0) * (0.5 - 0.5 * Math.cos(2 * Math.PI * i / size));
      imaginary[i] = 0;
    }
    transform(real, imaginary);
    for (let y = 0; y < height; y++) {
      const bin = Math.floor((height - 1 - y) / height * bins), power = real[bin] ** 2 + imaginary[bin] ** 2;
      const shade = Math.max(0, Math.min(1, (10 * Math.log10(power + 1e-9) + 40) / 70)), at = 4 * (y * width + x);
      image.data.set([255 * Math.min(1, 1.6 * shade), 210 * shade ** 1.6, 90 + 60 * Math.sin(3 * shade), 255], at);
    }
  }
  return image;
}

function transform(real, imaginary) {
  const size = real.length;
  for (let i = 1, j = 0; i < size; i++) {
    let bit = size >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) [real[i], real[j], imaginary[i], imaginary[j]] = [real[j], real[i], imaginary[j], imaginary[i]];
  }
  for (let length = 2; length <= size; length <<= 1) {
    const angle = -2 * Math.PI / length;
    for (let i = 0; i < size; i += length) for (let k = 0; k < length / 2; k++) {
      const a = i + k, b = a + length / 2, c = Math.cos(angle * k), s = Math.sin(angle * k);
      const re = real[b] * c - imaginary[b] * s, im = real[b] * s + imaginary[b] * c;
      real[b] = real[a] - re; imaginary[b] = imaginary[a] - im;
      real[a] += re; imaginary[a] += im;
    }
  }
}
