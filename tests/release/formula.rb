# Evaluates a Homebrew formula without Homebrew: ruby formula.rb FORMULA SYSTEM PROCESSOR [FOLDER DOWNLOADS]
#
# SYSTEM is macos or linux, PROCESSOR arm or intel: prints JSON of the downloads for them. With FOLDER, also installs
# from the files in DOWNLOADS and runs the formula's own test. A word that this file does not know is an error, even if
# Homebrew knows it.

require "digest"
require "fileutils"
require "json"
require "open3"
require "pathname"
require "tmpdir"

FORMULA, SYSTEM, PROCESSOR, FOLDER, DOWNLOADS = ARGV

# A file to download. One that is no archive keeps its name in the folder of the installation.
class Download
  def url(text = nil)
    text ? @url = text : @url
  end

  def sha256(text = nil)
    text ? @sha256 = text : @sha256
  end

  def stage
    file = Pathname(DOWNLOADS) / File.basename(url)
    raise "#{file} is not the file of the sum" unless Digest::SHA256.file(file).hexdigest == sha256

    Dir.mktmpdir do |folder|
      FileUtils.cp(file, folder)
      Dir.chdir(folder) { yield }
    end
  end
end

class Pathname
  # Moves a file here; a hash renames it. Homebrew makes files in bin executable, whatever was downloaded.
  def install(what)
    from, to = what.is_a?(Hash) ? what.first : [what, File.basename(what)]
    mkpath
    FileUtils.mv(from, self + to)
    FileUtils.chmod(basename.to_s == "bin" ? 0o555 : 0o444, self + to)
  end
end

class Formula
  class << self
    attr_reader :it, :macos, :resources, :tested

    def inherited(formula)
      super
      formula.instance_eval do
        @main = @download = Download.new
        @resources = {}
      end
      Formula.instance_variable_set(:@it, formula)
    end

    %w[desc homepage version license].each do |word|
      define_method(word) { |text = nil| text ? instance_variable_set("@#{word}", text) : instance_variable_get("@#{word}") }
    end

    %w[macos linux].each { |word| define_method("on_#{word}") { |&block| block.call if SYSTEM == word } }
    %w[arm intel].each { |word| define_method("on_#{word}") { |&block| block.call if PROCESSOR == word } }

    def url(text) = @download.url(text)
    def sha256(text) = @download.sha256(text)
    def download = @main

    def depends_on(what)
      @macos = what.fetch(:macos)
    end

    def resource(name, &block)
      @resources[name] = Download.new.tap { |each| each.instance_eval(&block) }
    end

    def test(&block)
      @tested = block
    end
  end

  def version = self.class.version
  def bin = Pathname(FOLDER) / "bin"
  def doc = Pathname(FOLDER) / "share/doc/mock-gateway"
  def resource(name) = self.class.resources.fetch(name)

  def shell_output(command)
    output, status = Open3.capture2(command)
    raise "#{command} ended with #{status}" unless status.success?

    output
  end

  def assert_equal(expected, actual)
    raise "#{actual.inspect} is not #{expected.inspect}" unless expected == actual
  end

  def assert_match(expected, actual)
    raise "#{actual.inspect} has no #{expected.inspect}" unless actual.match?(expected)
  end
end

load FORMULA
formula = Formula.it
puts JSON.generate(
  name: formula.name, desc: formula.desc, homepage: formula.homepage, version: formula.version, license: formula.license,
  macos: formula.macos, url: formula.download.url, sha256: formula.download.sha256,
  resources: formula.resources.values.map { |each| [each.url, each.sha256] }
)
if FOLDER
  formula.download.stage { formula.new.install }
  formula.new.instance_eval(&formula.tested)
end
